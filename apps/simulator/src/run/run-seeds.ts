/// <reference types="node" />
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { SeedRun } from "../simulate-seed.ts";
import type { Scenario } from "../world/scenario.ts";
import type { Job, DeliveredEvent, WorkerStart } from "./delivered-event.ts";

export interface RunOptions {
  readonly from: number;
  /** 0: until `stop` is aborted. */
  readonly seeds: number;
  readonly mutant?: string | undefined;
  readonly workers?: number | undefined;
  /** No new seed is started after a violation. */
  readonly stopsAtViolation: boolean;
  readonly isTraced?: boolean;
  /** Small calm worlds, each run once for every disk call and every way to crash there. */
  readonly crashesAtEachCall?: boolean | undefined;
  /** The store of all worlds, instead of the usual one. */
  readonly storage?: Scenario["storage"] | undefined;
  readonly stop?: AbortSignal | undefined;
  onRun?(run: SeedRun): void;
}

export interface Totals {
  readonly seeds: number;
  readonly handoffs: number;
  readonly violations: number;
  readonly first_violating_seed: number | null;
}

/** No world takes this long; one that does is in a loop without virtual time. */
const HANGS_AFTER_MS = 180_000;
/** Trying each disk call runs this many worlds in one. */
const EACH_CALL_HANGS_AFTER_MS = 20 * HANGS_AFTER_MS;

const WORKER = new URL("./worker.ts", import.meta.url);

/** Simulates seeds on several threads. Each seed is a world of its own, so the order does not matter. */
export async function runSeeds(options: RunOptions): Promise<Totals> {
  const { from, seeds, mutant, isTraced = false, crashesAtEachCall = false, stop } = options;
  const { storage } = options;
  const end = seeds === 0 ? Infinity : from + seeds;
  const totals = {
    seeds: 0,
    handoffs: 0,
    violations: 0,
    first_violating_seed: null as number | null,
  };
  let next = from;
  const count = (run: SeedRun) => {
    totals.seeds++;
    totals.handoffs += run.handoffs;
    totals.violations += run.violations.length;
    if (run.violations.length > 0) {
      totals.first_violating_seed = Math.min(run.seed, totals.first_violating_seed ?? Infinity);
    }
    options.onRun?.(run);
  };
  const nextSeed = () => {
    const isOver = options.stopsAtViolation && totals.violations > 0;
    return isOver || stop?.aborted === true || next >= end ? undefined : next++;
  };
  const threads = Math.max(1, options.workers ?? availableParallelism());
  const many = Math.min(threads, end - from);
  await Promise.all(
    Array.from({ length: many }, () =>
      work({ mutant, storage, isTraced, crashesAtEachCall, nextSeed, count }),
    ),
  );
  return totals;
}

function hangingRun(seed: number, afterMs: number): SeedRun {
  const message = `It was not over after ${afterMs / 1000} s.`;
  const violation = { rule: "hangs", handoffId: "", message, account: [] };
  return {
    seed,
    handoffs: 0,
    violations: [violation],
    ledgerHash: "",
    trace: "",
    lines: undefined,
    diskCalls: 0,
  };
}

interface SeedQueue {
  readonly mutant: string | undefined;
  readonly storage: Scenario["storage"] | undefined;
  readonly isTraced: boolean;
  readonly crashesAtEachCall: boolean;
  nextSeed(): number | undefined;
  count(run: SeedRun): void;
}

function work(shift: SeedQueue): Promise<void> {
  const { mutant, storage, isTraced, crashesAtEachCall, nextSeed, count } = shift;
  const hangsAfterMs = crashesAtEachCall ? EACH_CALL_HANGS_AFTER_MS : HANGS_AFTER_MS;
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, {
      workerData: { mutant, storage } satisfies WorkerStart,
    });
    let current: number | undefined;
    let watch: NodeJS.Timeout | undefined;
    let isOver = false;
    const done = (give: () => void) => {
      isOver = true;
      clearTimeout(watch);
      worker.terminate().then(give, reject);
    };
    worker.once("error", reject);
    worker.once("exit", () => {
      if (isOver) return;
      reject(
        new Error(`A thread ended in the middle of seed ${current}: nothing was left to happen.`),
      );
    });
    worker.on("message", (told: DeliveredEvent) => {
      if (told.type === "failed") {
        const why = new Error(`The simulator failed at seed ${told.seed}: ${told.message}`);
        return done(() => reject(why));
      }
      if (told.type === "run") count(told.run);
      clearTimeout(watch);
      const seed = (current = nextSeed());
      if (seed === undefined) return done(resolve);
      watch = setTimeout(() => {
        count(hangingRun(seed, hangsAfterMs));
        done(() => void work(shift).then(resolve, reject));
      }, hangsAfterMs);
      worker.postMessage({ seed, isTraced, crashesAtEachCall } satisfies Job);
    });
  });
}
