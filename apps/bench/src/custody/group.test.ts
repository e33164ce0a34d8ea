import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testRatios } from "../ratios-fixture.ts";
import { custody } from "./group.ts";
import { checkOutput, inputOf, outputOf } from "./job.ts";

const group = custody();

describe.each(group.cases)("$name", (each) => {
  beforeAll(() => each.prepare?.());
  afterAll(() => each.dispose?.());

  test("runs", async () => {
    for (let i = 0; i < 2; i++) {
      const elapsed = await each.run(each.opsPerRun ?? 1, () => 0);
      expect(elapsed === undefined || elapsed > 0).toBe(true);
    }
  }, 60_000);
});

testRatios(group);

test("an answer to another question is detected", () => {
  expect(() => checkOutput(1, outputOf(inputOf(1)))).not.toThrow();
  expect(() => checkOutput(1, outputOf(inputOf(2)))).toThrow("task 1");
});
