import { expect, test } from "vitest";
import { planFrom } from "./plan.ts";

test("the same seed gives the same plan, and another one a different plan", () => {
  expect(planFrom(5, 40, 12)).toEqual(planFrom(5, 40, 12));
  expect(planFrom(5, 40, 12)).not.toEqual({ ...planFrom(6, 40, 12), seed: 5 });
});

test("every kind of work and every process has its share", () => {
  const { tasks, kills } = planFrom(1, 300, 60);
  expect([...new Set(tasks.map(({ kind }) => kind))].toSorted()).toEqual([
    "family",
    "flaky",
    "late",
    "pause",
    "plain",
    "question",
    "slow",
  ]);
  expect(new Set(kills.map(({ target }) => target)).size).toBe(5);
});

test("kills are in order of time, and happen while work is left", () => {
  const { kills } = planFrom(2, 100, 50);
  const moments = kills.map(({ afterEnds }) => afterEnds);
  expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  expect(Math.max(...moments)).toBeLessThan(100);
});
