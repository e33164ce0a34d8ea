/// <reference types="node" />
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { MUTANTS } from "./mutants/mutants.ts";

const SIMULATE = fileURLToPath(new URL("./simulate.ts", import.meta.url));
const MINUTES = 60_000;

function simulate(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SIMULATE, ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr, last: stdout.trimEnd().split("\n").at(-1)! };
}

describe("simulate", () => {
  test("prints one line of JSON and nothing else", { timeout: 2 * MINUTES }, () => {
    const { status, stdout, stderr } = simulate("--from", "3", "--seeds", "2", "--json");
    expect(JSON.parse(stdout)).toEqual({
      seeds: 2,
      handoffs: expect.any(Number),
      violations: 0,
      first_violating_seed: null,
    });
    expect(stderr).toContain("2 of 2 seeds");
    expect(status).toBe(0);
  });

  test(
    "says how to reproduce a violation, and what was on record",
    { timeout: 2 * MINUTES },
    () => {
      const args = ["--from", "1", "--seeds", "20", "--workers", "1"];
      const { status, stdout, last } = simulate(...args, "--mutant", "anybody-may-report");
      expect(status).toBe(0);
      const { first_violating_seed: seed, violations } = JSON.parse(last) as Record<string, number>;
      expect(violations).toBeGreaterThan(0);
      expect(stdout).toContain(
        `again with: pnpm simulate --from ${seed} --seeds 1 --mutant anybody-may-report`,
      );
      expect(stdout).toMatch(/#\d+ at \d+ ms: handoff from agent-/);
    },
  );

  test("lists the planted bugs", () => {
    const names = MUTANTS.map(({ name }) => name);
    expect(simulate("--list-mutants").stdout.trim().split("\n")).toEqual(names);
    expect(JSON.parse(simulate("--list-mutants", "--json").stdout)).toEqual(names);
  });

  test.each([
    [["--mutant", "gremlins"], /no planted bug gremlins/],
    [["--seeds", "many"], /--seeds takes a whole number/],
    [["--forever", "--seeds", "3"], /contradict each other/],
    [["--speed"], /Unknown option '--speed'/],
  ])("refuses %j", (args, why) => {
    const { status, stderr } = simulate(...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(why);
    expect(stderr).toContain("Usage: pnpm simulate");
  });
});
