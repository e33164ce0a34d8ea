import { expect, test } from "vitest";
import type { Case } from "./group.ts";
import { measure } from "./measure.ts";

/** A clock that only work advances, in steps of a binary fraction, so that sums are exact. */
function machine(trace: string[] = []) {
  let time = 0;
  return {
    now: () => time,
    work(name: string, msPerOperation: number): Case {
      return {
        name,
        run(operations) {
          trace.push(name);
          time += operations * msPerOperation;
        },
      };
    },
  };
}

const options = { rounds: 4, sliceMs: 2, warmUpMs: 0, processorTime: () => 0 };

test("rates and times are per operation", async () => {
  const { now, work } = machine();
  const [slow, quick] = await measure([work("slow", 0.5), work("quick", 0.125)], {
    ...options,
    now,
  });
  expect(slow).toMatchObject({ name: "slow", perSecond: 2000, p50Ms: 0.5, p99Ms: 0.5 });
  expect(slow!.rates).toEqual([2000, 2000, 2000, 2000]);
  expect(quick).toMatchObject({ perSecond: 8000, p50Ms: 0.125, spreadPercent: 0 });
});

test("cases take turns, and another one comes first in each round", async () => {
  const trace: string[] = [];
  const { now, work } = machine(trace);
  const cases = ["a", "b", "c"].map((name) => work(name, 2));
  await measure(cases, { ...options, now });
  expect(trace.join("")).toBe("abc" + "abc" + "bca" + "cab" + "abc");
});

test("fast operations are timed in blocks, slow ones alone", async () => {
  const { now, work } = machine();
  const blocks = { quick: new Set<number>(), slow: new Set<number>() };
  const noting = (each: Case, asked: Set<number>): Case => ({
    ...each,
    run(operations, clock) {
      asked.add(operations);
      return each.run(operations, clock);
    },
  });
  await measure(
    [noting(work("quick", 2 ** -10), blocks.quick), noting(work("slow", 1), blocks.slow)],
    { ...options, warmUpMs: 1, now },
  );
  expect([...blocks.quick]).toEqual([1, 2, 4, 8, 16]);
  expect([...blocks.slow]).toEqual([1]);
});

test("batched operations are run together and counted individually", async () => {
  const { now, work } = machine();
  const asked = new Set<number>();
  const inner = work("batch", 0.25);
  const batch: Case = {
    name: "batch",
    opsPerRun: 64,
    run(operations, clock) {
      asked.add(operations);
      return inner.run(operations, clock);
    },
  };
  const [result] = await measure([batch], { ...options, now });
  expect([...asked]).toEqual([64]);
  expect(result).toMatchObject({ perSecond: 4000, p50Ms: 0.25 });
});

test("an asynchronous case is awaited, one call at a time", async () => {
  let time = 0;
  let running = 0;
  const waits: Case = {
    name: "waits",
    async run(operations) {
      expect(++running).toBe(1);
      await Promise.resolve();
      time += operations;
      running--;
    },
  };
  const [result] = await measure([waits], { ...options, now: () => time });
  expect(result!.perSecond).toBe(1000);
});

test("the time that a case reports counts, and not that of the whole call", async () => {
  const { now, work } = machine();
  const whole = work("import", 100);
  const reports: Case = {
    name: "import",
    async run(operations, clock) {
      await whole.run(operations, clock);
      return operations * 20;
    },
  };
  const [result] = await measure([reports], { ...options, now });
  expect(result).toMatchObject({ perSecond: 50, p50Ms: 20 });
});

test("a computing case is not charged for processor time of others", async () => {
  let time = 0;
  let ours = 0;
  const half: Case = {
    name: "half",
    run(operations) {
      time += operations;
      ours += operations / 2;
    },
  };
  const clocks = { now: () => time, processorTime: () => ours };
  const [waits, computes] = await measure([half, { ...half, isComputing: true }], {
    ...options,
    ...clocks,
  });
  expect(waits).toMatchObject({ perSecond: 1000, p50Ms: 1 });
  expect(computes).toMatchObject({ perSecond: 2000, p50Ms: 1 });
});

test("cases are prepared before and disposed of after, and a failure names its case", async () => {
  const { now, work } = machine();
  const trace: string[] = [];
  const kept = (each: Case): Case => ({
    ...each,
    prepare: () => void trace.push(`prepare ${each.name}`),
    dispose: () => void trace.push(`dispose ${each.name}`),
  });
  const fails: Case = {
    name: "fails",
    run() {
      throw new Error("no ink");
    },
  };
  await expect(measure([kept(work("works", 1)), kept(fails)], { ...options, now })).rejects.toThrow(
    'The case "fails" failed: no ink',
  );
  expect(trace).toEqual(["prepare works", "prepare fails", "dispose works", "dispose fails"]);
});
