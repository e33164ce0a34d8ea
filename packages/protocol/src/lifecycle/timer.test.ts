import fc from "fast-check";
import { expect, test } from "vitest";
import type { Handoff, LifecycleEvent } from "./handoff.ts";
import { step } from "./lifecycle.ts";
import { DEADLINE, eventFrom, START, stateAfter, TERMS } from "./lifecycle-fixture.ts";
import { dueEvent, isOfferDue, wakeAt } from "./timer.ts";

const submitted = stateAfter({ type: "submit" });
const offered = stateAfter({ type: "submit" }, { type: "offer" });
const accepted = stateAfter({ type: "submit" }, { type: "offer" }, { type: "accept" });
const waiting = stateAfter({ type: "submit" }, { type: "offer" }, { type: "question" });
const paused = stateAfter({ type: "submit" }, { type: "offer" }, { type: "pause" });

test("each state is due at the next time at which something can happen in it", () => {
  expect(wakeAt(submitted)).toBe(START);
  expect(isOfferDue(submitted, START)).toBe(true);
  expect(isOfferDue(submitted, START - 1)).toBe(false);
  expect(wakeAt(offered)).toBe(START + TERMS.offerMs);
  expect(dueEvent(offered, START + TERMS.offerMs)?.type).toBe("unreachable");
  expect(wakeAt(accepted)).toBe(START + TERMS.leaseMs);
  expect(dueEvent(accepted, START + TERMS.leaseMs)?.type).toBe("lease_lost");
  expect(dueEvent(accepted, START + TERMS.leaseMs - 1)).toBeUndefined();
  for (const state of [waiting, paused]) expect(wakeAt(state)).toBe(DEADLINE);
  for (const state of [submitted, offered, accepted, waiting, paused]) {
    expect(dueEvent(state, DEADLINE)).toEqual({ type: "expire", at: DEADLINE });
    expect(isOfferDue(state, DEADLINE)).toBe(false);
    const ended = step(state, eventFrom({ type: "cancel" })).state!;
    expect(wakeAt(ended)).toBeNull();
    expect(dueEvent(ended, DEADLINE)).toBeUndefined();
    expect(isOfferDue(ended, START)).toBe(false);
  }
});

test("a timer that fires early, late or twice does no harm", () => {
  for (const state of [offered, accepted]) {
    const wake = wakeAt(state)!;
    const type = state === offered ? "unreachable" : "lease_lost";
    const early = eventFrom({ type, at: wake - 1 });
    expect(step(state, early).state).toBe(state);
    const due = dueEvent(state, wake + 5_000)!;
    const once = step(state, due).state!;
    expect(once.attempts[0]!.state).toBe("closed");
    expect(step(once, due)).toEqual({ state: once, effects: [{ type: "reply", status: 410 }] });
  }
});

test("a clock alone, armed again from the stored state each time, ends every handoff", () => {
  const run = (seed: readonly number[], recipient: string | null): Handoff => {
    let now = START;
    let state = step(
      undefined,
      eventFrom({ type: "submit", recipient, terms: { ...TERMS, maxAttempts: 4 } }),
    ).state!;
    for (let wakes = 0; state.state === "open"; wakes++) {
      if (wakes > 3_000) throw new Error("it never ends");
      // A restarted hub has what the store returns.
      state = JSON.parse(JSON.stringify(state)) as Handoff;
      const wake = wakeAt(state)!;
      now = Math.max(now, wake);
      const due = dueEvent(state, now);
      const choice = seed[wakes % seed.length]!;
      const accept: LifecycleEvent = eventFrom({
        type: choice === 1 ? "accept" : "taken",
        attempt: state.attempts.length,
        at: now,
      });
      const next = due ?? eventFrom({ type: "offer", at: now });
      const stepped = step(state, next).state!;
      if (stepped === state) throw new Error(`${next.type} was due and changed nothing`);
      state = stepped;
      if (choice > 0 && next.type === "offer") state = step(state, accept).state!;
    }
    return state;
  };
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 9 }),
      fc.constantFrom("r", null),
      (seed, recipient) => {
        const { state, status } = run(seed, recipient);
        expect(state).toBe("dead_lettered");
        expect([504, 508]).toContain(status);
      },
    ),
    { numRuns: 200 },
  );
});
