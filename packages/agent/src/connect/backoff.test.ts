import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

test("delays grow to a limit, and half of each is jitter", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 1_000];
  expect(waits.map((failures) => backoffMs(failures, () => 0))).toEqual([
    50, 100, 200, 400, 800, 1_000, 1_000, 1_000,
  ]);
  expect(waits.map((failures) => backoffMs(failures, () => 1))).toEqual([
    100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000,
  ]);
});
