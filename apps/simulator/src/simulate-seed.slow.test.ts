import { describe, expect, test } from "vitest";
import { judge } from "./judge/judge.ts";
import { runSeeds } from "./run/run-seeds.ts";
import { simulateSeed } from "./simulate-seed.ts";

const SEEDS = 16;
const MINUTES = 60_000;

describe("a seed", () => {
  test("gives the same world every time, in any thread", { timeout: 3 * MINUTES }, async () => {
    const traces = new Map<number, string>();
    await runSeeds({
      from: 5,
      seeds: 4,
      workers: 2,
      stopsAtViolation: false,
      onRun: ({ seed, trace }) => traces.set(seed, trace),
    });
    expect(traces.size).toBe(4);
    expect(new Set(traces.values()).size).toBe(4);
    for (const [seed, trace] of traces) {
      const again = await simulateSeed(seed, judge);
      expect(again.trace).toBe(trace);
    }
  });

  test("shows crashes, lost messages and broken lines, and records events in words", async () => {
    const { lines, trace } = await simulateSeed(6, judge, { isTraced: true });
    expect((await simulateSeed(6, judge)).trace).toBe(trace);
    const told = lines!.join("\n");
    expect(told).toMatch(/hub-1 is down/);
    expect(told).toMatch(/hands off/);
    expect(told).toMatch(/no more faults/);
  });

  test("never breaks a promise", { timeout: 5 * MINUTES }, async () => {
    const found: string[] = [];
    const totals = await runSeeds({
      from: 1,
      seeds: SEEDS,
      stopsAtViolation: false,
      onRun({ seed, violations }) {
        for (const { rule, message } of violations) found.push(`${seed} ${rule}: ${message}`);
      },
    });
    expect(found).toEqual([]);
    expect(totals).toMatchObject({ seeds: SEEDS, violations: 0, first_violating_seed: null });
    expect(totals.handoffs).toBeGreaterThan(SEEDS * 10);
  });
});
