import { expect, test } from "vitest";
import { runSeeds } from "../run/run-seeds.ts";
import { MUTANTS } from "./mutants.ts";

/** Those that the design names; `simulate:long` plants them all. */
const SAMPLE = [
  "terminal-guard-removed",
  "acknowledged-before-sync",
  "accepted-before-sync",
  "effect-key-with-attempt",
  "timers-not-armed-at-start",
  "version-fence-removed",
];
const SEEDS = 100;

test("there are bugs enough, each under a name of its own", () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(12);
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});

test.each(SAMPLE)("%s is caught", async (mutant) => {
  const totals = await runSeeds({ from: 1, seeds: SEEDS, mutant, stopsAtViolation: true });
  expect(totals.violations).toBeGreaterThan(0);
});
