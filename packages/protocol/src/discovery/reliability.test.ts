import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { WaybillError } from "../error.ts";
import {
  decayed,
  EJECTION,
  isEjected,
  isSuccess,
  MEASURING,
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

  test("is a rate, on its own side of the measured one", () => {
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

  test("gets tighter with more outcomes at the same rate", () => {
    fc.assert(
      fc.property(counts, fc.integer({ min: 2, max: 50 }), ([successes, total], times) => {
        fc.pre(successes > 0);
        expect(wilsonLowerBound(successes * times, total * times)).toBeGreaterThan(
          wilsonLowerBound(successes, total),
        );
      }),
    );
  });

  test("is lower for more confidence", () => {
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

describe("the record", () => {
  const failures: StatusCode[] = [500, 501, 502, 503, 520];
  const all = Object.keys(STATUS).map(Number) as StatusCode[];

  test("counts a success, and of failures only those that the recipient caused", () => {
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

  test("ignores every other outcome", () => {
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
      ...NO_STATS,
      failures: 3,
      measuredAt: 1000,
      consecutiveFailures: 3,
      ejections: 1,
      ejectedUntil: 31_000,
    });
    expect(isEjected(ejected, 30_999)).toBe(true);
    expect(isEjected(ejected, 31_000)).toBe(false);
  });

  test("doubles with a failure after its end, up to a minute", () => {
    let stats = after(3, 0);
    const spans = [stats.ejectedUntil!];
    for (let count = 0; count < 9; count++) {
      const at = stats.ejectedUntil!;
      stats = fail(stats, at);
      spans.push(stats.ejectedUntil! - at);
    }
    expect(spans.map((ms) => ms / 1000)).toEqual([30, 60, 60, 60, 60, 60, 60, 60, 60, 60]);
  });

  test("is not prolonged by attempts that were under way when it began", () => {
    const ejected = after(3, 0);
    const stats = fail(fail(ejected, 10), 20);
    expect(stats).toMatchObject({ ejectedUntil: ejected.ejectedUntil, consecutiveFailures: 5 });
    expect(stats.failures).toBeCloseTo(5, 3);
  });

  test("is over with the first success, and the next one is short again", () => {
    const stats = recordOutcome(fail(after(3, 0), 30_000), { status: 200, at: 31_000 });
    expect(stats).toMatchObject({ consecutiveFailures: 0, ejections: 0, ejectedUntil: null });
    const at = 31_003;
    expect(fail(fail(fail(stats, at), at), at).ejectedUntil).toBe(at + EJECTION.baseMs);
  });

  test("any sequence of outcomes gives valid counts, in finite times bounded by a minute", () => {
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
        expect(stats.successes + stats.failures).toBeLessThanOrEqual(counted.length);
        if (counted.length > 0)
          expect(stats.successes + stats.failures).toBeGreaterThanOrEqual(0.999);
        const last = counted.findLastIndex(({ status }) => status === 200);
        expect(stats.consecutiveFailures).toBe(counted.length - 1 - last);
      }),
    );
  });
});

describe("a measurement", () => {
  const { halfLifeMs, crashMs } = MEASURING;

  test("loses half of its weight in each half-life, however it is updated", () => {
    let stats: ReliabilityStats = { ...NO_STATS, successes: 8, failures: 4, measuredAt: 0 };
    expect(decayed(stats, halfLifeMs)).toEqual({ successes: 4, failures: 2 });
    for (const share of [0.25, 0.5, 0.75]) {
      stats = { ...stats, ...decayed(stats, share * halfLifeMs), measuredAt: share * halfLifeMs };
    }
    expect(decayed(stats, halfLifeMs).successes).toBeCloseTo(4, 9);
    expect(recordOutcome(stats, { status: 200, at: halfLifeMs }).successes).toBeCloseTo(5, 9);
  });

  test("does not grow when a clock goes back", () => {
    const stats: ReliabilityStats = { ...NO_STATS, successes: 8, measuredAt: 1_000 };
    const after = recordOutcome(stats, { status: 200, at: 0 });
    expect(after).toMatchObject({ successes: 9, measuredAt: 1_000 });
  });

  test("counts all losses of one crash as one failure", () => {
    let stats = NO_STATS;
    const lost = (at: number): Outcome => ({
      status: 502,
      closed: "lease_lost",
      isCrash: true,
      at,
    });
    for (let count = 0; count < 10; count++) stats = recordOutcome(stats, lost(count * 1_000));
    expect(stats).toMatchObject({ failures: 1, consecutiveFailures: 1, ejectedUntil: null });
    expect(recordOutcome(stats, lost(crashMs)).consecutiveFailures).toBe(2);
  });

  test("counts each loss of an agent that is still connected", () => {
    let stats = NO_STATS;
    for (let count = 0; count < 3; count++) {
      stats = recordOutcome(stats, { status: 502, closed: "lease_lost", at: count });
    }
    expect(isEjected(stats, 3)).toBe(true);
  });

  test("follows the duration of successes", () => {
    const took = (stats: ReliabilityStats, tookMs?: number) =>
      recordOutcome(stats, { status: 200, at: 0, tookMs });
    let stats = took(NO_STATS, 100);
    expect(stats.meanMs).toBe(100);
    expect(took(stats).meanMs).toBe(100);
    for (let count = 0; count < 30; count++) stats = took(stats, 1_000);
    expect(stats.meanMs).toBeGreaterThan(990);
    expect(recordOutcome(stats, { status: 500, at: 0 }).meanMs).toBe(stats.meanMs);
  });
});
