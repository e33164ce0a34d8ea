import { expect, test } from "vitest";
import { capabilitySchema } from "../manifest/capability.ts";
import { chooseCandidate } from "./choice.ts";
import type { RankedCandidate } from "./discovery.ts";

function fit(agent_id: string, facts: Partial<RankedCandidate> = {}): RankedCandidate {
  return {
    agent_id,
    capability: capabilitySchema().parse({ name: "work" }),
    reliability: 0.9,
    isMeasured: true,
    isContradicted: false,
    standing: "good",
    inFlight: 0,
    credit: 16,
    reasons: [],
    ...facts,
  };
}

/** Pseudo-random numbers that are the same in every run. */
function numbers(): () => number {
  let state = 1;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function shares(fits: readonly RankedCandidate[], count = 10_000): Record<string, number> {
  const random = numbers();
  const chosen: Record<string, number> = {};
  for (let round = 0; round < count; round++) {
    const { agent_id: agent } = chooseCandidate(fits, random)!;
    chosen[agent] = (chosen[agent] ?? 0) + 1 / count;
  }
  return chosen;
}

test("without candidates nobody is chosen", () => {
  expect(chooseCandidate([], numbers())).toBeUndefined();
});

test("equal candidates get equal shares", () => {
  const found = shares([fit("a"), fit("b"), fit("c")]);
  for (const agent of ["a", "b", "c"]) expect(found[agent]).toBeCloseTo(1 / 3, 1);
});

test("a candidate that is ten times slower gets a tenth of what the others get", () => {
  const found = shares([
    fit("a", { meanMs: 10 }),
    fit("b", { meanMs: 10 }),
    fit("slow", { meanMs: 100 }),
  ]);
  expect(found["slow"]! / found["a"]!).toBeGreaterThan(0.07);
  expect(found["slow"]! / found["a"]!).toBeLessThan(0.14);
});

test("a candidate that was never measured counts like the average of the others", () => {
  const found = shares([fit("a", { meanMs: 10 }), fit("new", { isMeasured: false })]);
  expect(found["new"]).toBeCloseTo(0.5, 1);
});

test("a slow candidate keeps a minimum share, so that it stays measured", () => {
  const found = shares([fit("a", { meanMs: 1 }), fit("slow", { meanMs: 1_000_000 })]);
  expect(found["slow"]).toBeGreaterThan(0.02);
});

test("of two that are drawn, the one with the larger free share of its room is chosen", () => {
  const found = shares([
    fit("busy", { inFlight: 15, credit: 1 }),
    fit("idle", { inFlight: 0, credit: 16 }),
  ]);
  expect(found["idle"]).toBeCloseTo(0.75, 1);
});

test("a candidate of worse standing is chosen if there is no better one", () => {
  const worse = fit("worse", { standing: "worse" });
  const ejected = fit("ejected", { standing: "ejected" });
  expect(shares([fit("good"), worse, ejected], 100)).toEqual({ good: expect.closeTo(1) as number });
  expect(chooseCandidate([worse, ejected], numbers())?.agent_id).toBe("worse");
  expect(chooseCandidate([ejected], numbers())?.agent_id).toBe("ejected");
});

test("a candidate of worse standing that is due for a trial gets one piece of work before all others", () => {
  const due = fit("due", { standing: "worse", isDueForTrial: true });
  const resting = fit("resting", { standing: "worse" });
  expect(shares([fit("good"), due, resting], 100)).toEqual({
    due: expect.closeTo(100 / 100, 5) as number,
  });
  expect(Object.keys(shares([fit("good"), resting], 100))).toEqual(["good"]);
});
