import { expect, test } from "vitest";
import { judge } from "./judge/judge.ts";
import { runSeeds } from "./run/run-seeds.ts";
import { simulateSeed } from "./simulate-seed.ts";

const SEEDS = 8;
const MINUTES = 60_000;

test(
  "over the log of the durable store no promise is broken",
  { timeout: 5 * MINUTES },
  async () => {
    const found: string[] = [];
    const totals = await runSeeds({
      from: 1,
      seeds: SEEDS,
      storage: "log",
      stopsAtViolation: false,
      onRun({ seed, violations }) {
        for (const { rule, message } of violations) found.push(`${seed} ${rule}: ${message}`);
      },
    });
    expect(found).toEqual([]);
    expect(totals.handoffs).toBeGreaterThan(SEEDS * 10);
  },
);

test("a seed gives the same world over the log every time", async () => {
  const scenario = { storage: "log" } as const;
  const { trace, handoffs } = await simulateSeed(3, judge, { scenario });
  expect(handoffs).toBeGreaterThan(0);
  expect((await simulateSeed(3, judge, { scenario })).trace).toBe(trace);
});

test("while a disk fails, waiting work is offered again after pauses, and not in a loop", async () => {
  // The disk of this world fails while two handoffs wait for an agent that has room.
  const { violations, handoffs } = await simulateSeed(29, judge, { scenario: { storage: "log" } });
  expect(violations).toEqual([]);
  expect(handoffs).toBeGreaterThan(50);
});
