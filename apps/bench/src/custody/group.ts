import type { Case, Clock, Elapsed, Group } from "../group.ts";
import { quantile } from "../statistics.ts";
import { inFlight } from "./lane.ts";
import type { Lane } from "./lane.ts";
import { openInMemory, openOnSqlite } from "./ours.ts";
import { openPeer } from "./peer.ts";

const WIDTH = 64;
/** A run of this size fills the pipeline for most of its time, and drains it at its end. */
const RUN = 8 * WIDTH;
/** The acknowledgement of one task overlaps with the next task; a run waits for the last. */
const ONE_BY_ONE_RUN = 16;

const NAMES = {
  peer64: "A2A, 64 in flight",
  sqlite64: "Waybill on SQLite, 64 in flight",
  memory64: "Waybill in memory, 64 in flight",
  peer1: "A2A, one at a time",
  sqlite1: "Waybill on SQLite, one at a time",
  acknowledged1: "Waybill on SQLite, one at a time, each acknowledged first",
  memory1: "Waybill in memory, one at a time",
  p50: "Waybill on SQLite, one of 64: p50",
  p99: "Waybill on SQLite, one of 64: p99",
} as const;

/** A task from one agent to another and back, compared with the same task through A2A. */
export function custody(): Group {
  const onSqlite = shared(openOnSqlite);
  const onPeer = shared(openPeer);
  const inMemory = shared(openInMemory);
  return {
    cases: [
      wide(NAMES.peer64, onPeer),
      wide(NAMES.sqlite64, onSqlite),
      oneByOne(NAMES.peer1, onPeer),
      oneByOne(NAMES.sqlite1, onSqlite),
      oneByOne(
        NAMES.acknowledged1,
        shared(() => openOnSqlite({ waitsForAcknowledgement: true })),
      ),
      latency(NAMES.p50, onSqlite, 0.5),
      latency(NAMES.p99, onSqlite, 0.99),
      wide(NAMES.memory64, inMemory),
      oneByOne(NAMES.memory1, inMemory),
    ],
    ratios: [
      {
        name: "custody_vs_a2a_64",
        compares: "rate",
        of: NAMES.sqlite64,
        to: NAMES.peer64,
        meaning: "tasks in a second by those of A2A, with 64 in flight",
        wanted: ">= 1.5",
      },
      {
        name: "custody_vs_a2a_1",
        compares: "rate",
        of: NAMES.sqlite1,
        to: NAMES.peer1,
        meaning: "the same, one at a time",
        wanted: ">= 0.8",
      },
      {
        name: "custody_p99_over_p50_64",
        compares: "time",
        of: NAMES.p99,
        to: NAMES.p50,
        meaning: "the slowest of a hundred by the middle one, with 64 in flight",
        wanted: "<= 5",
      },
      {
        name: "custody_acknowledged_vs_a2a_1",
        compares: "rate",
        of: NAMES.acknowledged1,
        to: NAMES.peer1,
        meaning: "one at a time, where the next one waits for the acknowledgement too",
      },
      {
        name: "custody_memory_vs_a2a_64",
        compares: "rate",
        of: NAMES.memory64,
        to: NAMES.peer64,
        meaning: "with 64 in flight, where both keep everything in memory",
      },
      {
        name: "custody_memory_vs_a2a_1",
        compares: "rate",
        of: NAMES.memory1,
        to: NAMES.peer1,
        meaning: "the same, one at a time",
      },
    ],
  };
}

/** One lane for several cases: opened by the first, closed by the last. */
interface Shared {
  open(): Promise<Lane>;
  close(): Promise<void>;
}

function shared(openLane: () => Promise<Lane>): Shared {
  let lane: Promise<Lane> | undefined;
  let users = 0;
  return {
    open() {
      users++;
      lane ??= openLane();
      return lane;
    },
    async close() {
      if (--users > 0) return;
      await (await lane)?.close();
      lane = undefined;
    },
  };
}

function onLane(
  name: string,
  source: Shared,
  opsPerRun: number,
  run: (lane: Lane, operations: number, clock: Clock) => Promise<Elapsed>,
): Case {
  let lane: Lane | undefined;
  return {
    name,
    opsPerRun,
    async prepare() {
      lane = await source.open();
    },
    run: (operations, clock) => run(lane!, operations, clock),
    dispose: () => source.close(),
  };
}

function wide(name: string, source: Shared): Case {
  return onLane(name, source, RUN, (lane, operations) => inFlight(lane, operations, WIDTH));
}

function oneByOne(name: string, source: Shared): Case {
  return onLane(name, source, ONE_BY_ONE_RUN, (lane, operations) => inFlight(lane, operations, 1));
}

/** Reports the time of one task among many, which the time of a run does not show. */
function latency(name: string, source: Shared, rank: number): Case {
  return onLane(name, source, RUN, async (lane, operations) => {
    const times: number[] = [];
    await inFlight(lane, operations, WIDTH, (ms) => times.push(ms));
    return quantile(times, rank) * operations;
  });
}
