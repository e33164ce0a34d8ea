/// <reference types="node" />
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { judge } from "../judge/judge.ts";
import { runSeeds } from "../run/run-seeds.ts";
import { simulateSeed } from "../simulate-seed.ts";
import { MUTANTS } from "./mutants.ts";

/** The bugs that the design names; `simulate:long` plants all. */
const SAMPLE = [
  "terminal-guard-removed",
  "acknowledged-before-sync",
  "accepted-before-sync",
  "effect-key-with-attempt",
  "version-fence-removed",
];
const SEEDS = 100;
const SOUND_SEEDS = 12;

test("there are enough bugs, each with a unique name", () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(12);
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});

test("each fits the current source", () => {
  const root = new URL("../../../../", import.meta.url);
  for (const { patches } of MUTANTS) {
    for (const { file, find } of patches) {
      const pieces = readFileSync(new URL(file, root), "utf8").split(find);
      expect(pieces, `${file}: ${find}`).toHaveLength(2);
    }
  }
});

test("worlds made for a bug are sound without it", async () => {
  // Bugs in the distribution of work have their own test: shares.slow.test.ts.
  const made = MUTANTS.filter(({ worlds }) => worlds !== undefined && worlds.spread === undefined);
  expect(made.length).toBeGreaterThan(0);
  for (const { name, worlds } of made) {
    for (let seed = 1; seed <= SOUND_SEEDS; seed++) {
      const { violations } = await simulateSeed(seed, judge, { scenario: worlds });
      expect(violations, `seed ${seed} for ${name}`).toEqual([]);
    }
  }
});

test.each(SAMPLE)("%s is caught", async (mutant) => {
  const totals = await runSeeds({ from: 1, seeds: SEEDS, mutant, stopsAtViolation: true });
  expect(totals.violations).toBeGreaterThan(0);
});

test("timers-not-armed-at-start is caught if nothing else wakes the hub", async () => {
  const totals = await runSeeds({
    from: 1,
    seeds: 6,
    mutant: "timers-not-armed-at-start",
    crashesAtEachCall: true,
    stopsAtViolation: true,
  });
  expect(totals.violations).toBeGreaterThan(0);
});
