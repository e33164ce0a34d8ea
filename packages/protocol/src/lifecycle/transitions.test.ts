import { describe, expect, test } from "vitest";
import { liveAttempt } from "./attempt.ts";
import { step } from "./lifecycle.ts";
import { eventFrom, stateAfter, CANCEL, DEADLINE, RESULT, START } from "./lifecycle-fixture.ts";
import type { Handoff, LifecycleEvent } from "./handoff.ts";
import { ATTEMPT_MOVES, CLOSE_REASONS, HANDOFF_MOVES } from "./transitions.ts";
import type { AttemptEventName, AttemptState, CloseReason } from "./transitions.ts";

const LATER = START + 10_000;

// Attempts that allow each of the events that the state itself allows.
const ATTEMPTS: Record<AttemptState, Handoff[]> = {
  offered: [
    stateAfter({ type: "submit" }, { type: "offer" }),
    stateAfter({ type: "submit" }, { type: "offer" }, { type: "taken" }),
  ],
  accepted: [stateAfter({ type: "submit" }, { type: "offer" }, { type: "accept" })],
  waiting: [
    stateAfter({ type: "submit" }, { type: "offer" }, { type: "accept" }, { type: "question" }),
  ],
  closed: [stateAfter({ type: "submit" }, { type: "offer" }, { type: "release" })],
};

const EVENTS: Record<AttemptEventName, LifecycleEvent> = {
  taken: eventFrom({ type: "taken" }),
  heartbeat: eventFrom({ type: "heartbeat", at: START + 1 }),
  accept: eventFrom({ type: "accept" }),
  progress: eventFrom({ type: "progress" }),
  question: eventFrom({ type: "question", questions: ["another"] }),
  answer: eventFrom({ type: "answer" }),
  pause: eventFrom({ type: "pause" }),
  reject: eventFrom({ type: "reject" }),
  release: eventFrom({ type: "release" }),
  result: eventFrom({ type: "result" }),
  interrupt: eventFrom({ type: "result", status: 501 }),
  unreachable: eventFrom({ type: "unreachable", at: LATER }),
  lease_lost: eventFrom({ type: "lease_lost", at: LATER }),
  end: eventFrom({ type: "cancel" }),
};

const STATES = Object.keys(ATTEMPTS) as AttemptState[];
const NAMES = Object.keys(ATTEMPT_MOVES) as AttemptEventName[];

describe("attempt", () => {
  for (const name of NAMES) {
    for (const from of STATES) {
      const to = ATTEMPT_MOVES[name].moves[from];
      test(`${from} by ${name}: ${to ?? "refused"}`, () => {
        const reached = ATTEMPTS[from].map((before) => {
          const { state, effects } = step(before, EVENTS[name]);
          if (state === before) {
            expect(effects).toHaveLength(1);
            return "unchanged";
          }
          const { state: after, closed } = state!.attempts[0]!;
          if (after === "closed" && from !== "closed") {
            expect(closed).toBe(ATTEMPT_MOVES[name].closes);
          }
          return after;
        });
        if (from === "closed") {
          // The end of the handoff is the only thing that may follow; it leaves the attempt alone.
          expect(reached).toEqual([name === "end" ? "closed" : "unchanged"]);
        } else if (to === undefined) {
          expect(new Set(reached)).toEqual(new Set(["unchanged"]));
        } else if (to === from) {
          // Repeating the current state may be refused as a duplicate, and leads nowhere else.
          expect(reached.filter((each) => each !== "unchanged" && each !== to)).toEqual([]);
        } else {
          expect(reached).toContain(to);
          expect(reached.filter((each) => each !== "unchanged" && each !== to)).toEqual([]);
        }
      });
    }
  }

  test("every reason to close is the end of some row", () => {
    const reasons = NAMES.map((name) => ATTEMPT_MOVES[name].closes).filter((each) => each);
    expect(new Set(reasons)).toEqual(new Set(Object.keys(CLOSE_REASONS)));
    for (const name of NAMES) {
      const isClosing = Object.values(ATTEMPT_MOVES[name].moves).includes("closed");
      expect(isClosing).toBe(ATTEMPT_MOVES[name].closes !== undefined);
    }
  });

  test("only what the table says uses up an attempt", () => {
    const closing: [CloseReason, LifecycleEvent][] = [
      ["result", eventFrom({ type: "result", status: 500, isRetryable: true })],
      ["released", EVENTS.release],
      ["interrupted", EVENTS.interrupt],
      ["lease_lost", EVENTS.lease_lost],
      ["unreachable", EVENTS.unreachable],
      ["paused", EVENTS.pause],
    ];
    for (const [reason, event] of closing) {
      const isUntaken = reason === "unreachable";
      const terms = { maxAttempts: 1, offerMs: 10, leaseMs: 10 };
      const before = stateAfter(
        { type: "submit", terms },
        { type: "offer" },
        ...(isUntaken ? [] : [{ type: "accept" as const }]),
      );
      const { state } = step(before, event);
      expect(state!.attempts[0]!.closed).toBe(reason);
      expect([reason, state!.state !== "open"]).toEqual([
        reason,
        CLOSE_REASONS[reason].countsAsTry,
      ]);
    }
  });
});

describe("handoff", () => {
  const open = stateAfter({ type: "submit" }, { type: "offer" });
  const last = stateAfter({ type: "submit", terms: { maxAttempts: 1 } }, { type: "offer" });
  const cases: Record<keyof typeof HANDOFF_MOVES, [Handoff | undefined, LifecycleEvent]> = {
    submit: [undefined, eventFrom({ type: "submit" })],
    succeed: [open, eventFrom({ type: "result" })],
    fail: [open, eventFrom({ type: "result", status: 500 })],
    reject: [open, eventFrom({ type: "reject" })],
    cancel: [open, eventFrom({ type: "cancel" })],
    parent_ended: [open, eventFrom({ type: "parent_ended" })],
    group_decided: [open, eventFrom({ type: "group_decided" })],
    expire: [open, eventFrom({ type: "expire", at: DEADLINE })],
    exhaust: [last, eventFrom({ type: "result", status: 501 })],
    dead_letter: [open, eventFrom({ type: "dead_letter" })],
  };
  for (const [name, [before, event]] of Object.entries(cases)) {
    const move = HANDOFF_MOVES[name as keyof typeof HANDOFF_MOVES];
    test(`${move.from} by ${name}: ${move.to}`, () => {
      const { state, effects } = step(before, event);
      expect(state!.state).toBe(move.to);
      expect(before === undefined ? "none" : before.state).toBe(move.from);
      const ends = effects.filter(({ type }) => type === "ended");
      expect(ends).toEqual(
        move.to === "open" ? [] : [{ type: "ended", state: move.to, status: state!.status }],
      );
    });
  }

  const ended = Object.values(cases)
    .map(([before, event]) => step(before, event).state!)
    .filter(({ state }) => state !== "open");

  test("no row leads out of an ended state", () => {
    expect(new Set(ended.map(({ state }) => state)).size).toBe(4);
    const every = [
      ...Object.values(EVENTS),
      ...Object.values(cases).map(([, event]) => event),
      eventFrom({ type: "offer" }),
      eventFrom({ type: "offer", at: DEADLINE + 1 }),
      eventFrom({ type: "result", digest: CANCEL }),
    ];
    for (const state of ended) {
      for (const event of every) {
        const next = step(state, event);
        expect(next.state).toBe(state);
        expect(next.effects).toHaveLength(1);
        const [reply] = next.effects;
        expect(reply).toMatchObject({ type: "reply", status: expect.any(Number) as number });
        // The outcome itself may be repeated; everything else is late.
        const isRepeat = "digest" in event && [state.outcome, state.digest].includes(event.digest);
        const isAnswer = event.type === "answer";
        expect(reply).toMatchObject({ status: isRepeat ? 201 : isAnswer ? 403 : 410 });
      }
    }
  });

  test("after an end only acknowledging and discarding are possible", () => {
    for (const state of ended) {
      const outcome = state.outcome ?? RESULT;
      const acknowledged = step(state, eventFrom({ type: "acknowledge", outcome })).state!;
      expect(acknowledged).toEqual({ ...state, isAcknowledged: true });
      const discarded = step(state, eventFrom({ type: "discard" })).state!;
      if (state.state === "dead_lettered") expect(discarded.isDiscarded).toBe(true);
      else expect(discarded).toBe(state);
    }
  });

  test("before custody nothing is known", () => {
    for (const event of Object.values(EVENTS)) {
      expect(step(undefined, event)).toEqual({
        state: undefined,
        effects: [{ type: "reply", status: 403 }],
      });
    }
  });
});

test("a superseded attempt is told to stop", () => {
  const before = ATTEMPTS.accepted[0]!;
  const { state, effects } = step(before, EVENTS.end);
  expect(liveAttempt(state!)).toBeUndefined();
  expect(effects).toContainEqual({ type: "stop", attempt: 1, recipient: "r", status: 499 });
});
