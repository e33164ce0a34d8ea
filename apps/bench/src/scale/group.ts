/// <reference types="node" />
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openHub } from "@waybill/hub";
import { generateKey } from "@waybill/protocol";
import { openSqliteStore } from "@waybill/store-sqlite";
import { inFlight } from "../custody/lane.ts";
import type { Lane } from "../custody/lane.ts";
import { generateKeys, openOurs } from "../custody/ours.ts";
import type { Case, Group } from "../group.ts";
import { Database } from "./database.ts";

export interface Scale {
  /** How many are in the large database, and in the file over which a hub is opened. */
  readonly handoffs: number;
  /** How many are open at once. */
  readonly open: number;
}

/** The promise is about a million, but those take minutes to write, and 16 GB. */
const HANDOFFS = 100_000;
const OPEN = 100_000;
const FEW = 1_000;
const WIDTH = 64;
const RUN = 4 * WIDTH;
/** A whole slice, so that a case with a constant result runs once in it. */
const SLICE_MS = 10;

/**
 * A process with gigabytes available collects no garbage, which can't be told from what it holds.
 * With a small heap, either everything fits, or the process ends.
 */
const HEAP_MB = { sqlite: 160, memory: 1024 } as const;

const run = promisify(execFile);

export function scaleFrom(text: string | undefined): Scale {
  const handoffs = text === undefined ? HANDOFFS : Number(text);
  if (Number.isSafeInteger(handoffs) && handoffs >= FEW) return { handoffs, open: OPEN };
  throw new Error(`WAYBILL_SCALE takes a whole number from ${FEW} on, not "${text}".`);
}

/** The cost of a hub with many handoffs, ended or open. */
export function scale({ handoffs, open }: Scale): Group {
  const names = {
    few: `handoff after ${count(FEW)} others`,
    many: `handoff after ${count(handoffs)} others`,
    ready: `hub over ${count(handoffs)} handoffs, until it is ready`,
    sqlite: `${count(open)} open on SQLite, 1 ms for 1 MB`,
    memory: `${count(open)} open in memory, 1 ms for 1 MB`,
  };
  const large = new Database(handoffs);
  return {
    cases: [
      handoffCase(names.few, new Database(FEW), true),
      handoffCase(names.many, large, false),
      readyCase(names.ready, large),
      heldCase(names.sqlite, "sqlite", open),
      heldCase(names.memory, "memory", open),
    ],
    ratios: [
      {
        name: "scale_cost_growth",
        compares: "time",
        of: names.many,
        to: names.few,
        meaning: `time of a handoff after ${count(handoffs)} others, by that after ${count(FEW)}`,
        wanted: "<= 1.2",
      },
      {
        name: "scale_open_memory_mb",
        compares: "time",
        of: names.sqlite,
        to: 1000,
        meaning: `MB that the process grows by with ${count(open)} open handoffs, on SQLite`,
        wanted: "<= 200",
      },
      {
        name: "scale_open_memory_store_mb",
        compares: "time",
        of: names.memory,
        to: 1000,
        meaning: "the same with the memory store, which holds the ledger too",
      },
      {
        name: "scale_ready_seconds",
        compares: "time",
        of: names.ready,
        to: 1,
        meaning: `seconds from opening a file with ${count(handoffs)} handoffs until the hub is`,
        wanted: "<= 2",
      },
    ],
  };
}

/**
 * Handoffs in a copy of the database, which is opened again after every thousand, so that both cases
 * read the same cold data. `isRenewed` is for the case that would outgrow its size.
 */
function handoffCase(name: string, database: Database, isRenewed: boolean): Case {
  let lane: Lane | undefined;
  let path: string | undefined;
  let keys = generateKeys();
  let added = 0;
  const open = async (): Promise<void> => {
    await lane?.close();
    lane = undefined;
    if (path === undefined || isRenewed) {
      if (path !== undefined) rmSync(path);
      path = database.copy();
      keys = generateKeys();
    }
    added = 0;
    const store = await openSqliteStore(path);
    lane = await openOurs({ store, keys, openHandoffs: database.handoffs });
    await inFlight(lane, RUN, WIDTH);
  };
  return {
    name,
    opsPerRun: RUN,
    async prepare() {
      await database.make();
      await open();
    },
    async run(operations, clock) {
      if (added >= FEW) await open();
      const start = clock();
      await inFlight(lane!, operations, WIDTH);
      added += operations;
      return clock() - start;
    },
    async dispose() {
      await lane?.close();
      database.remove();
    },
  };
}

function readyCase(name: string, database: Database): Case {
  const key = generateKey();
  let path: string | undefined;
  const openAndClose = async (clock: () => number): Promise<number> => {
    const start = clock();
    const store = await openSqliteStore(path!);
    const hub = await openHub({ store, key });
    const ms = clock() - start;
    await hub.close();
    await store.close();
    return ms;
  };
  return {
    name,
    async prepare() {
      await database.make();
      path = database.copy();
    },
    async run(operations, clock) {
      let ms = 0;
      for (let done = 0; done < operations; done++) ms += await openAndClose(clock);
      return ms;
    },
    dispose: () => database.remove(),
  };
}

/** Measured once, in a process that does nothing else; the rounds only repeat the result. */
function heldCase(name: string, store: keyof typeof HEAP_MB, open: number): Case {
  const program = fileURLToPath(new URL("held.ts", import.meta.url));
  let megabytes = 0;
  return {
    name,
    async prepare() {
      const { stdout } = await run(process.execPath, [
        "--expose-gc",
        "--max-semi-space-size=4",
        `--max-old-space-size=${HEAP_MB[store]}`,
        program,
        store,
        `${open}`,
      ]);
      megabytes = (JSON.parse(stdout) as { grownMb: number }).grownMb;
    },
    async run(operations) {
      await setTimeout(SLICE_MS);
      return megabytes * operations;
    },
  };
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
