import { expect, test } from "vitest";
import { simulateSeed } from "../simulate-seed.ts";
import { spreadScenario } from "../spread/spread-world.ts";
import { runSeeds } from "../run/run-seeds.ts";
import { SPREAD_MUTANTS } from "../mutants/spread.ts";
import { judge } from "./judge.ts";

test.each(["equal", "slow", "restarted"] as const)(
  "work is distributed as promised over %s workers",
  async (spread) => {
    for (let seed = 1; seed <= 3; seed++) {
      const scenario = spreadScenario(spread);
      const { handoffs, violations } = await simulateSeed(seed, judge, { scenario });
      expect(violations, `seed ${seed}`).toEqual([]);
      expect(handoffs, `seed ${seed}`).toBeGreaterThan(100);
    }
  },
);

test.each(SPREAD_MUTANTS.map(({ name }) => name))("%s is caught", async (mutant) => {
  const totals = await runSeeds({ from: 1, seeds: 3, mutant, stopsAtViolation: true });
  expect(totals.violations).toBeGreaterThan(0);
});
