import { expect, test } from "vitest";
import { runSeeds } from "../run/run-seeds.ts";
import { MUTANTS } from "./mutants.ts";

/** No planted bug hides for longer. */
const SEEDS = 400;
const MINUTES = 60_000;

test("there are bugs enough, each under a name of its own", () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(12);
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});

test.each(MUTANTS.map(({ name, why }) => ({ name, why })))(
  "$name: $why",
  { timeout: 10 * MINUTES },
  async ({ name }) => {
    const totals = await runSeeds({ from: 1, seeds: SEEDS, mutant: name, stopsAtViolation: true });
    expect(totals.violations).toBeGreaterThan(0);
  },
);
