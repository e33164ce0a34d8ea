import { expect, test } from "vitest";
import type { Attempt, Handoff } from "./handoff.ts";
import { eventFrom, stateAfter, START, TERMS } from "./lifecycle-fixture.ts";
import { step } from "./lifecycle.ts";
import { nextAttemptAt } from "./retry.ts";

const state = stateAfter({ type: "submit" });
const attempts = (count: number): readonly Attempt[] =>
  Array.from({ length: count }, () => ({}) as Attempt);
const waitAfter = (handoff: Handoff, count: number): number =>
  nextAttemptAt(handoff, attempts(count), START) - START;

test("the delay doubles with each attempt up to the cap, less a jitter of at most half", () => {
  for (let count = 1; count <= 200; count++) {
    const full = Math.min(TERMS.backoffCapMs, TERMS.backoffMs * 2 ** (count - 1));
    expect(waitAfter(state, count)).toBeGreaterThanOrEqual(full / 2);
    expect(waitAfter(state, count)).toBeLessThanOrEqual(full);
    expect(Number.isInteger(waitAfter(state, count))).toBe(true);
  }
});

test("handoffs that failed together are not retried together, and a restart finds the same times", () => {
  const waits = Array.from({ length: 1_000 }, (_, index) => {
    const submit = eventFrom({ type: "submit", id: `0198f0aa-0000-7000-8000-${index}` });
    return waitAfter(step(undefined, submit).state!, 6);
  });
  const tenths = new Set(waits.map((wait) => Math.floor((wait - 500) / 50)));
  expect(tenths.size).toBeGreaterThanOrEqual(10);
  expect(waitAfter(JSON.parse(JSON.stringify(state)) as Handoff, 6)).toBe(waitAfter(state, 6));
});
