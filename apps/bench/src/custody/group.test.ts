import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ratioOf } from "../ratio.ts";
import { custody } from "./group.ts";
import { checkOutput, inputOf, outputOf } from "./job.ts";

const { cases, ratios } = custody();

describe.each(cases)("$name", (each) => {
  beforeAll(() => each.prepare?.());
  afterAll(() => each.dispose?.());

  test("runs", async () => {
    for (let i = 0; i < 2; i++) {
      const elapsed = await each.run(each.opsPerRun ?? 1, () => 0);
      expect(elapsed === undefined || elapsed > 0).toBe(true);
    }
  }, 60_000);
});

test("every ratio speaks of cases of the group", () => {
  const results = cases.map(({ name }) => ({
    name,
    rates: [1],
    perSecond: 1,
    p50Ms: 1,
    p99Ms: 1,
    spreadPercent: 0,
  }));
  expect(ratios.map((ratio) => ratioOf(ratio, results))).toHaveLength(ratios.length);
});

test("an answer to another question is noticed", () => {
  expect(() => checkOutput(1, outputOf(inputOf(1)))).not.toThrow();
  expect(() => checkOutput(1, outputOf(inputOf(2)))).toThrow("task 1");
});
