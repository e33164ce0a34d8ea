import { expect, test } from "vitest";
import { judge } from "./judge/judge.ts";
import { runSeeds } from "./run/run-seeds.ts";
import { simulateSeed } from "./simulate-seed.ts";

/** Two hubs each; in the first world an agent leaves. */
const SMALL_SEEDS = [7, 14];

test("a process may crash at every single call to its disk", async () => {
  const found: string[] = [];
  const totals = await Promise.all(
    SMALL_SEEDS.map((from) =>
      runSeeds({
        from,
        seeds: 1,
        workers: 1,
        crashesAtEachCall: true,
        stopsAtViolation: false,
        onRun({ seed, violations }) {
          for (const { rule, message } of violations) found.push(`${seed} ${rule}: ${message}`);
        },
      }),
    ),
  );
  expect(found).toEqual([]);
  expect(totals.every(({ handoffs }) => handoffs > 50)).toBe(true);
});

test("a hub over the log of the durable store may crash at every single call, and its disk may fail", async () => {
  const found: string[] = [];
  const { handoffs } = await runSeeds({
    from: 1,
    seeds: 1,
    workers: 1,
    storage: "log",
    crashesAtEachCall: true,
    stopsAtViolation: false,
    onRun({ seed, violations }) {
      for (const { rule, message } of violations) found.push(`${seed} ${rule}: ${message}`);
    },
  });
  expect(found).toEqual([]);
  expect(handoffs).toBeGreaterThan(500);
});

test("the crash happens at the named call", async () => {
  const faultPlan = [{ call: 6, fault: "crash_amid", losesPower: true }] as const;
  const { lines } = await simulateSeed(7, judge, { isTraced: true, faultPlan });
  expect(lines!.filter((line) => / disk /.test(line))).toHaveLength(1);
  expect(lines!.join("\n")).toMatch(/crash_amid[^]*power fails[^]*hub-1 is up/);
});

test("a bug that shows only after a crash is caught by it", async () => {
  const totals = await runSeeds({
    from: 7,
    seeds: 1,
    workers: 1,
    mutant: "acknowledged-before-sync",
    crashesAtEachCall: true,
    stopsAtViolation: false,
  });
  expect(totals.violations).toBeGreaterThan(0);
});
