import { expect, test } from "vitest";
import type { Ratio } from "./group.ts";
import type { CaseResult } from "./measure.ts";
import { ratioOf } from "./ratio.ts";

test("sides are compared round by round, so that slow phases of the machine cancel out", () => {
  // In every round b is exactly twice as fast as a, and the machine is 10 times slower in two of three.
  const results = [result("a", [100, 10, 10]), result("b", [200, 20, 20])];
  expect(ratioOf(ratio({ of: "b", to: "a" }), results).value).toBe(2);

  // The medians of each side would give 1; the rounds give 2, 0.5 and 2.
  const crossed = [result("a", [10, 20, 30]), result("b", [20, 10, 60])];
  expect(ratioOf(ratio({ of: "b", to: "a" }), crossed).value).toBe(2);
});

test("times are compared inversely to rates", () => {
  const results = [result("slow", [50, 50]), result("quick", [100, 100])];
  const sides = { of: "slow", to: "quick" };
  expect(ratioOf(ratio({ ...sides, compares: "time" }), results).value).toBe(2);
  expect(ratioOf(ratio({ ...sides, compares: "rate" }), results).value).toBe(0.5);
});

test("a case can be compared with a fixed rate", () => {
  const results = [result("a", [2_000_000, 4_000_000, 3_000_000])];
  expect(ratioOf(ratio({ of: "a", to: 1_000_000 }), results).value).toBe(3);
});

test.each([
  [">= 2", true],
  [">= 2.01", false],
  ["<= 2", true],
  ["<= 1.99", false],
] as const)("a ratio of 2 with %s wanted: %s", (wanted, isMet) => {
  const results = [result("a", [1]), result("b", [2])];
  expect(ratioOf(ratio({ of: "b", to: "a", wanted }), results)).toMatchObject({ wanted, isMet });
});

test("a ratio with an unknown case is an error", () => {
  expect(() => ratioOf(ratio({ of: "a", to: "c" }), [result("a", [1])])).toThrow(
    'The ratio gain speaks of the case "c", which there is not.',
  );
});

function ratio(given: Partial<Ratio>): Ratio {
  return {
    name: "gain",
    compares: "rate",
    of: "a",
    to: "b",
    meaning: "",
    wanted: ">= 1",
    ...given,
  };
}

function result(name: string, rates: number[]): CaseResult {
  return { name, rates, perSecond: 0, p50Ms: 0, p99Ms: 0, spreadPercent: 0 };
}
