import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WaybillError } from "../error.ts";
import {
  EJECTION,
  isEjected,
  isSuccess,
  NO_STATS,
  recordOutcome,
  wilsonLowerBound,
  wilsonUpperBound,
} from "./reliability.ts";
import type { Outcome, ReliabilityStats } from "./reliability.ts";
import { STATUS } from "../status.ts";
import type { StatusCode } from "../status.ts";

const counts = fc.nat(1000).chain((total) => fc.tuple(fc.nat(total), fc.constant(total)));

describe("the Wilson bound", () => {
  test.each([
    [0, 0, 0],
    [0, 10, 0],
    [1, 1, 0.2065],
    [9, 10, 0.5958],
    [10, 10, 0.7225],
    [95, 100, 0.8882],
  ])("%i of %i is at least %d", (successes, total, bound) => {
    expect(wilsonLowerBound(successes, total)).toBeCloseTo(bound, 4);
  });

  test("is a rate, on its own side of the one measured", () => {
    fc.assert(
      fc.property(counts, ([successes, total]) => {
        const lower = wilsonLowerBound(successes, total);
        const upper = wilsonUpperBound(successes, total);
        expect(lower).toBeGreaterThanOrEqual(0);
        expect(upper).toBeLessThanOrEqual(1);
        if (total === 0) return;
        expect(lower).toBeLessThanOrEqual(successes / total);
        expect(upper).toBeGreaterThanOrEqual(successes / total);
      }),
    );
  });

  test("rises with each success, and falls with each failure", () => {
    fc.assert(
      fc.property(counts, ([successes, total]) => {
        const bound = wilsonLowerBound(successes, total);
        expect(wilsonLowerBound(successes + 1, total + 1)).toBeGreaterThan(bound);
        if (successes > 0) expect(wilsonLowerBound(successes, total + 1)).toBeLessThan(bound);
      }),
    );
  });

  test("comes closer with more outcomes at the same rate", () => {
    fc.assert(
      fc.property(counts, fc.integer({ min: 2, max: 50 }), ([successes, total], times) => {
        fc.pre(successes > 0);
        expect(wilsonLowerBound(successes * times, total * times)).toBeGreaterThan(
          wilsonLowerBound(successes, total),
        );
      }),
    );
  });

  test("is lower the surer it must be", () => {
    expect(wilsonLowerBound(9, 10, 2.58)).toBeLessThan(wilsonLowerBound(9, 10));
    expect(wilsonLowerBound(9, 10, 0)).toBe(0.9);
  });

  test.each([
    [2, 1],
    [-1, 1],
    [NaN, 1],
    [1, NaN],
    [1, Infinity],
  ])("%d of %d are no counts", (successes, total) => {
    expect(() => wilsonLowerBound(successes, total)).toThrow(WaybillError);
  });
});

describe("what counts", () => {
  const failures: StatusCode[] = [500, 501, 502, 503, 520];
  const all = Object.keys(STATUS).map(Number) as StatusCode[];

  test("a completion for it, and only failures that the recipient caused against it", () => {
    const counted = all.map((status) => [status, isSuccess({ status, at: 0 })]);
    const expected = all.map((status) => [
      status,
      status === 200 ? true : failures.includes(status) ? false : undefined,
    ]);
    expect(counted).toEqual(expected);
  });

  test.each<[string, Omit<Outcome, "at">, boolean | undefined]>([
    ["late after acceptance", { status: 504, isAccepted: true }, false],
    ["out of time before acceptance", { status: 504, isAccepted: false }, undefined],
    ["out of time, superseded", { status: 504, closed: "superseded", isAccepted: true }, false],
    ["cancelled", { status: 499, closed: "superseded", isAccepted: true }, undefined],
    ["rejected, even with a failure", { status: 500, closed: "rejected" }, undefined],
    ["released", { status: 300, closed: "released" }, undefined],
    ["paused", { status: 103, closed: "paused" }, undefined],
    ["interrupted", { status: 501, closed: "interrupted" }, false],
    ["silent", { status: 502, closed: "lease_lost" }, false],
    ["unreachable", { status: 503, closed: "unreachable" }, false],
    ["a result", { status: 200, closed: "result" }, true],
  ])("%s", (_what, outcome, expected) => {
    expect(isSuccess({ ...outcome, at: 0 })).toBe(expected);
  });

  test("what does not count leaves the record as it is", () => {
    const stats: ReliabilityStats = { ...NO_STATS, failures: 2, consecutiveFailures: 2 };
    expect(recordOutcome(stats, { status: 422, at: 0 })).toBe(stats);
  });
});

describe("ejection", () => {
  const fail = (stats: ReliabilityStats, at: number) => recordOutcome(stats, { status: 500, at });
  const after = (failures: number, at: number) => {
    let stats = NO_STATS;
    for (let count = 0; count < failures; count++) stats = fail(stats, at);
    return stats;
  };

  test("comes with the third failure in a row, and ends", () => {
    expect(after(2, 1000).ejectedUntil).toBeNull();
    const ejected = after(3, 1000);
    expect(ejected).toEqual({
      successes: 0,
      failures: 3,
      consecutiveFailures: 3,
      ejections: 1,
      ejectedUntil: 31_000,
    });
    expect(isEjected(ejected, 30_999)).toBe(true);
    expect(isEjected(ejected, 31_000)).toBe(false);
  });

  test("doubles with each failure after its end, up to an hour", () => {
    let stats = after(3, 0);
    const spans = [stats.ejectedUntil!];
    for (let count = 0; count < 9; count++) {
      const at = stats.ejectedUntil!;
      stats = fail(stats, at);
      spans.push(stats.ejectedUntil! - at);
    }
    expect(spans.map((ms) => ms / 1000)).toEqual([
      30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600,
    ]);
  });

  test("is not made longer by what was under way when it came", () => {
    const ejected = after(3, 0);
    const stats = fail(fail(ejected, 10), 20);
    expect(stats).toEqual({ ...ejected, failures: 5, consecutiveFailures: 5 });
  });

  test("is over with the first success, and the next one is short again", () => {
    const stats = recordOutcome(fail(after(3, 0), 30_000), { status: 200, at: 31_000 });
    expect(stats).toEqual({ ...NO_STATS, successes: 1, failures: 4 });
    expect(fail(fail(fail(stats, 1), 2), 3).ejectedUntil).toBe(3 + EJECTION.baseMs);
  });

  test("any sequence of outcomes keeps count, in finite times that an hour bounds", () => {
    const outcome = fc.record({
      status: fc.constantFrom<StatusCode>(200, 500, 502, 499, 422),
      at: fc.nat(10_000_000),
    });
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 200 }), (outcomes) => {
        let stats = NO_STATS;
        for (const each of outcomes) {
          stats = recordOutcome(stats, each);
          expect(stats.ejectedUntil ?? 0).toBeLessThanOrEqual(10_000_000 + EJECTION.capMs);
        }
        const counted = outcomes.filter(({ status }) => status === 200 || status >= 500);
        expect(stats.successes + stats.failures).toBe(counted.length);
        const last = counted.findLastIndex(({ status }) => status === 200);
        expect(stats.consecutiveFailures).toBe(counted.length - 1 - last);
      }),
    );
  });
});
