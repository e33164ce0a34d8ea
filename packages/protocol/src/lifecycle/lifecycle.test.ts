import { describe, expect, test } from "vitest";
import type { Handoff, LifecycleEvent } from "./handoff.ts";
import { step } from "./lifecycle.ts";
import {
  ANSWER,
  CANCEL,
  DEADLINE,
  eventFrom,
  HANDOFF,
  OTHER,
  RESULT,
  START,
  stateAfter,
  TERMS,
} from "./lifecycle-fixture.ts";
import { ATTEMPTS_AT_MOST } from "./retry.ts";

type Given = { type: LifecycleEvent["type"] } & Record<string, unknown>;

function replyTo(state: Handoff | undefined, event: Given): number | undefined {
  const [reply] = step(state, eventFrom(event)).effects;
  return reply?.type === "reply" ? reply.status : undefined;
}
/** The reply to an event that must change nothing. */
function refusalOf(state: Handoff | undefined, event: Given): number | undefined {
  expect(step(state, eventFrom(event)).state).toBe(state);
  return replyTo(state, event);
}
function after(state: Handoff, ...events: Given[]): Handoff {
  return events.reduce((now, event) => step(now, eventFrom(event)).state!, state);
}

const submitted = stateAfter({ type: "submit" });
const offered = stateAfter({ type: "submit" }, { type: "offer" });
const accepted = stateAfter({ type: "submit" }, { type: "offer" }, { type: "accept" });
const waiting = after(accepted, { type: "question", questions: ["q", "p"] });
const paused = after(accepted, { type: "pause", questions: ["q", "p"] });

describe("custody", () => {
  test("the same submission again is a duplicate, another under its id an alarm", () => {
    expect(refusalOf(submitted, { type: "submit" })).toBe(201);
    expect(refusalOf(submitted, { type: "submit", digest: OTHER })).toBe(409);
    expect(refusalOf(submitted, { type: "submit", by: "x" })).toBe(403);
    expect(refusalOf(submitted, { type: "submit", by: "x", digest: OTHER })).toBe(403);
  });

  test("a handoff whose deadline has passed, or never comes, is refused", () => {
    expect(refusalOf(undefined, { type: "submit", at: DEADLINE })).toBe(504);
    expect(refusalOf(undefined, { type: "submit", deadline: Number.NaN })).toBe(400);
    expect(refusalOf(undefined, { type: "submit", deadline: Infinity })).toBe(400);
  });
});

describe("permissions", () => {
  const events: Given[] = [
    { type: "taken" },
    { type: "heartbeat" },
    { type: "accept" },
    { type: "progress" },
    { type: "question" },
    { type: "pause" },
    { type: "reject" },
    { type: "release" },
    { type: "result" },
  ];

  test("only the agent that holds the attempt may send its events", () => {
    for (const event of events) {
      for (const by of ["x", "d"]) expect(refusalOf(offered, { ...event, by })).toBe(403);
      for (const attempt of [0, 2, -1, 0.5, Number.NaN]) {
        expect(refusalOf(offered, { ...event, attempt })).toBe(403);
      }
    }
  });

  test("only the delegator may cancel, answer and acknowledge", () => {
    const ended = after(accepted, { type: "result" });
    for (const by of ["x", "r"]) {
      expect(refusalOf(offered, { type: "cancel", by })).toBe(403);
      expect(refusalOf(waiting, { type: "answer", by })).toBe(403);
      expect(refusalOf(ended, { type: "acknowledge", by })).toBe(403);
    }
  });

  test("a recipient that signs for another digest is refused, whatever it says", () => {
    for (const event of events.slice(2)) {
      expect(refusalOf(offered, { ...event, re: OTHER })).toBe(409);
      // A sender that does not hold the attempt is told less.
      expect(refusalOf(offered, { ...event, re: OTHER, by: "x" })).toBe(403);
    }
  });

  test("the attempt is offered to the addressed recipient", () => {
    expect(refusalOf(submitted, { type: "offer", recipient: "s" })).toBe(403);
    const toAnyone = stateAfter({ type: "submit", recipient: null });
    expect(replyTo(toAnyone, { type: "offer", recipient: "s" })).toBe(100);
  });
});

describe("one attempt at a time", () => {
  test("a second engine's offer is refused while an attempt is under way", () => {
    for (const state of [offered, accepted, waiting, paused]) {
      expect(refusalOf(state, { type: "offer", at: START + 50_000 })).toBe(403);
    }
  });

  test("a late result of a closed attempt changes nothing", () => {
    const second = after(
      accepted,
      { type: "lease_lost", at: START + 1_000 },
      { type: "offer", at: START + 2_000 },
      { type: "accept", attempt: 2, at: START + 2_000 },
    );
    expect(second.attempts).toHaveLength(2);
    expect(refusalOf(second, { type: "result", at: START + 2_001 })).toBe(410);
  });

  test("the outcome again is a duplicate, another result is late", () => {
    const ended = after(accepted, { type: "result" });
    expect(refusalOf(ended, { type: "result" })).toBe(201);
    expect(refusalOf(ended, { type: "result", digest: OTHER })).toBe(410);
    expect(refusalOf(ended, { type: "cancel" })).toBe(410);
    expect(refusalOf(ended, { type: "cancel", by: "x" })).toBe(403);
  });
});

describe("acceptance", () => {
  test("any event that is signed for the digest stands for an acceptance that is still on its way", () => {
    const working = after(offered, { type: "progress" });
    expect(working.attempts[0]!.state).toBe("accepted");
    expect(refusalOf(working, { type: "accept" })).toBe(201);
    expect(after(offered, { type: "result" }).state).toBe("completed");
    const asking = after(offered, { type: "question" });
    expect(asking.attempts[0]!.state).toBe("waiting");
    expect(refusalOf(asking, { type: "accept" })).toBe(201);
  });

  test("an accepted attempt can't be rejected any more", () => {
    expect(refusalOf(accepted, { type: "reject" })).toBe(403);
    expect(refusalOf(waiting, { type: "reject" })).toBe(403);
  });

  test("an attempt that was taken without a signed acceptance is lost after the grace, not unreachable", () => {
    const taken = after(offered, { type: "taken", at: START + 10 });
    const late = START + 10 + TERMS.graceMs;
    expect(refusalOf(taken, { type: "lease_lost", at: late - 1 })).toBe(403);
    expect(refusalOf(taken, { type: "unreachable", at: late })).toBe(403);
    const lost = after(taken, { type: "lease_lost", at: late });
    expect(lost.attempts[0]).toMatchObject({ closed: "lease_lost", status: 502 });
  });
});

describe("lease", () => {
  test("heartbeats and progress extend it", () => {
    for (const type of ["heartbeat", "progress"] as const) {
      const extended = after(accepted, { type, at: START + 100 });
      expect(extended.attempts[0]!.silentAt).toBe(START + 100 + TERMS.leaseMs);
    }
  });

  test("a clock that is set back does not shorten it", () => {
    for (const type of ["heartbeat", "progress"] as const) {
      const before = after(accepted, { type: "heartbeat", at: START + 100 });
      const next = after(before, { type, at: START - 500 });
      expect(next.attempts[0]!.silentAt).toBe(before.attempts[0]!.silentAt);
    }
  });

  test("a heartbeat neither accepts nor extends an offer", () => {
    expect(refusalOf(offered, { type: "heartbeat", at: START + 50 })).toBe(100);
    const taken = after(offered, { type: "taken" });
    expect(refusalOf(taken, { type: "heartbeat", at: START + 50 })).toBe(100);
  });

  test("it is suspended while a question is open, and restarts with the last answer", () => {
    const late = START + 50_000;
    expect(waiting.attempts[0]!.silentAt).toBeNull();
    expect(refusalOf(waiting, { type: "lease_lost", at: late })).toBe(403);
    expect(refusalOf(waiting, { type: "heartbeat", at: late })).toBe(100);
    const half = after(waiting, { type: "answer", at: late });
    expect(half.attempts[0]).toMatchObject({ state: "waiting", silentAt: null });
    const whole = after(half, { type: "answer", question: "p", at: late });
    expect(whole.attempts[0]).toMatchObject({ state: "accepted", silentAt: late + TERMS.leaseMs });
    expect(whole.status).toBe(102);
  });

  test("progress during a wait does not end the wait", () => {
    const next = after(waiting, { type: "progress" });
    expect(next.attempts[0]).toMatchObject({ state: "waiting", status: 103, silentAt: null });
    expect(next.status).toBe(103);
  });
});

describe("questions", () => {
  test("an answer counts once", () => {
    const answered = after(waiting, { type: "answer" });
    expect(refusalOf(answered, { type: "answer" })).toBe(201);
    expect(refusalOf(answered, { type: "answer", digest: OTHER })).toBe(410);
    expect(refusalOf(answered, { type: "answer", question: "never asked" })).toBe(403);
  });

  test("an answer to a closed attempt is late", () => {
    const released = after(waiting, { type: "release" });
    expect(refusalOf(released, { type: "answer" })).toBe(410);
    const ended = after(waiting, { type: "cancel" });
    expect(refusalOf(ended, { type: "answer" })).toBe(410);
  });

  test("asking the same again is a duplicate, asking nothing is malformed", () => {
    expect(refusalOf(waiting, { type: "question", questions: ["p", "q", "q"] })).toBe(201);
    expect(refusalOf(accepted, { type: "question", questions: [] })).toBe(400);
    expect(refusalOf(accepted, { type: "pause", questions: [] })).toBe(400);
  });

  test("one question named twice is asked once", () => {
    const next = after(accepted, { type: "question", questions: ["q", "q"] });
    expect(next.questions).toEqual([{ id: "q", attempt: 1, answer: null }]);
  });

  test("questions are bounded", () => {
    const many = Array.from({ length: 257 }, (_, index) => `q${index}`);
    expect(refusalOf(accepted, { type: "question", questions: many })).toBe(413);
    const full = after(accepted, { type: "question", questions: many.slice(0, 256) });
    expect(full.questions).toHaveLength(256);
    expect(refusalOf(full, { type: "question", questions: ["one more"] })).toBe(413);
    expect(refusalOf(full, { type: "question", questions: many.slice(0, 256) })).toBe(201);
  });

  test("an agent can't ask under the question id of another agent", () => {
    const next = after(
      stateAfter(
        { type: "submit", recipient: null },
        { type: "offer" },
        { type: "question" },
        { type: "release" },
      ),
      { type: "offer", recipient: "s", at: START + 1_000 },
    );
    const ofOther = { by: "s", attempt: 2, at: START + 1_000 };
    expect(refusalOf(next, { type: "question", ...ofOther })).toBe(409);
    expect(replyTo(next, { type: "question", ...ofOther, questions: ["s:q"] })).toBe(100);
  });

  test("a later attempt of the same agent can ask an open question again, and keeps its answers", () => {
    const next = after(
      waiting,
      { type: "answer" },
      { type: "lease_lost" },
      { type: "release" },
      { type: "offer", at: START + 1_000 },
      { type: "question", attempt: 2, questions: ["q", "p"], at: START + 1_000 },
    );
    expect(next.questions).toEqual([
      { id: "q", attempt: 1, answer: ANSWER },
      { id: "p", attempt: 2, answer: null },
    ]);
    const whole = after(next, { type: "answer", question: "p", at: START + 1_001 });
    expect(whole.attempts[1]!.state).toBe("accepted");
  });
});

describe("pause", () => {
  test("it is reserved until the last answer, for the only agent that knows the state", () => {
    expect(paused).toMatchObject({ status: 103, nextAttemptAt: null, state: "open" });
    const half = after(paused, { type: "answer" });
    expect(half).toMatchObject({ status: 103, nextAttemptAt: null });
    expect(refusalOf(half, { type: "offer", at: START + 5 })).toBe(403);
    const whole = after(half, { type: "answer", question: "p", at: START + 5 });
    expect(whole).toMatchObject({ status: 100, nextAttemptAt: START + 5 });
    expect(refusalOf(whole, { type: "offer", recipient: "s", at: START + 5 })).toBe(403);
    expect(replyTo(whole, { type: "offer", at: START + 5 })).toBe(100);
  });

  test("a handoff to anyone resumes where it paused", () => {
    const state = after(
      stateAfter({ type: "submit", recipient: null }, { type: "offer" }, { type: "pause" }),
      { type: "answer" },
    );
    expect(state.resumes).toEqual({ attempt: 1, recipient: "r" });
    expect(refusalOf(state, { type: "offer", recipient: "s" })).toBe(403);
    expect(replyTo(state, { type: "offer", recipient: "r" })).toBe(100);
  });

  test("answers that crossed the pause resume it at once", () => {
    const answered = after(waiting, { type: "answer" }, { type: "answer", question: "p" });
    const next = step(answered, eventFrom({ type: "pause", questions: ["q", "p"], at: START + 9 }));
    expect(next.state).toMatchObject({ status: 100, nextAttemptAt: START + 9 });
    expect(next.effects).toContainEqual({ type: "retry", at: START + 9 });
  });

  test("a pause also waits for questions that were open before it", () => {
    const state = after(
      waiting,
      { type: "pause", questions: ["o"] },
      { type: "answer", question: "o" },
    );
    expect(state.nextAttemptAt).toBeNull();
    const whole = after(state, { type: "answer" }, { type: "answer", question: "p" });
    expect(whole.nextAttemptAt).toBe(START);
  });

  test("a rejection by the only agent that can resume fails the handoff", () => {
    const state = after(
      stateAfter({ type: "submit", recipient: null }, { type: "offer" }, { type: "pause" }),
      { type: "answer" },
      { type: "offer" },
      { type: "reject", attempt: 2, status: 404 },
    );
    expect(state).toMatchObject({ state: "failed", status: 404 });
  });
});

describe("deadline", () => {
  const late: Given[] = [
    { type: "offer" },
    { type: "taken" },
    { type: "heartbeat" },
    { type: "accept" },
    { type: "progress" },
    { type: "question" },
    { type: "pause" },
    { type: "reject" },
    { type: "release" },
    { type: "result" },
    { type: "answer" },
    { type: "cancel" },
    { type: "unreachable" },
    { type: "lease_lost" },
    { type: "parent_ended" },
    { type: "dead_letter" },
    { type: "result", by: "x" },
    { type: "result", re: OTHER },
  ];

  test("an event at or after it is answered as if the timer had fired in time", () => {
    for (const state of [submitted, offered, accepted, waiting, paused]) {
      for (const given of late) {
        for (const at of [DEADLINE, DEADLINE + 5_000]) {
          const event = eventFrom({ ...given, at });
          const expired = step(state, eventFrom({ type: "expire", at }));
          const next = step(state, event);
          expect(next.state).toEqual(expired.state);
          const { effects } = step(expired.state, event);
          expect(next.effects).toEqual([...effects, ...expired.effects.slice(1)]);
          expect(next.state).toMatchObject({ state: "dead_lettered", status: 504, outcome: null });
          expect(next.effects.filter(({ type }) => type === "ended")).toHaveLength(1);
        }
      }
    }
  });

  test("one millisecond earlier a result completes", () => {
    expect(after(accepted, { type: "result", at: DEADLINE - 1 }).state).toBe("completed");
    expect(replyTo(accepted, { type: "result", at: DEADLINE })).toBe(410);
  });

  test("it can't be brought forward", () => {
    expect(refusalOf(accepted, { type: "expire", at: DEADLINE - 1 })).toBe(403);
  });

  test("a handoff whose end was not reported can't be acknowledged or discarded", () => {
    expect(refusalOf(accepted, { type: "acknowledge", at: DEADLINE })).toBe(403);
    expect(refusalOf(accepted, { type: "discard", at: DEADLINE })).toBe(403);
    expect(refusalOf(accepted, { type: "acknowledge" })).toBe(403);
  });
});

describe("retry", () => {
  function retried(attempts: number, event: Given, terms: object = {}): Handoff {
    let state = stateAfter({ type: "submit", terms: { ...TERMS, ...terms } });
    for (let attempt = 1; attempt <= attempts; attempt++) {
      if (state.nextAttemptAt === null) return state;
      const at = state.nextAttemptAt;
      const silentAt = at + TERMS.leaseMs;
      state = after(
        state,
        { type: "offer", at },
        {
          ...(event.type === "unreachable" ? { type: "progress", by: "x" } : { type: "accept" }),
          attempt,
          at,
        },
        {
          ...event,
          attempt,
          at: event.type === "lease_lost" || event.type === "unreachable" ? silentAt : at,
        },
      );
    }
    return state;
  }

  test("silent attempts end as a dead letter", () => {
    expect(retried(2, { type: "lease_lost" })).toMatchObject({ state: "open", status: 502 });
    const ended = retried(3, { type: "lease_lost" });
    expect(ended).toMatchObject({ state: "dead_lettered", status: 508, outcome: null });
  });

  test("failed attempts end as a failure, with the last verdict as the outcome", () => {
    const event = { type: "result", status: 500, isRetryable: true } as const;
    expect(retried(2, event)).toMatchObject({ state: "open", status: 500, outcome: null });
    expect(retried(3, event)).toMatchObject({ state: "failed", status: 500, outcome: RESULT });
  });

  test("a verdict is final unless the recipient marks it as retryable", () => {
    expect(retried(1, { type: "result", status: 500 }).state).toBe("failed");
    expect(retried(1, { type: "result", status: 422, isRetryable: true }).state).toBe("failed");
    expect(retried(1, { type: "result", status: 503 }).state).toBe("open");
    expect(retried(1, { type: "result", status: 503, isRetryable: false }).state).toBe("failed");
  });

  test("output that breaks its schema is retried once", () => {
    const event = { type: "result", status: 520 } as const;
    const terms = { maxAttempts: 10 };
    expect(retried(1, event, terms)).toMatchObject({ state: "open", status: 520 });
    expect(retried(2, event, terms)).toMatchObject({ state: "failed", status: 520 });
  });

  test("an interruption is retried, unless the recipient says that it must not be", () => {
    const event = { type: "result", status: 501 } as const;
    const open = retried(1, event);
    expect(open.attempts[0]!.closed).toBe("interrupted");
    expect(open.state).toBe("open");
    expect(retried(3, event)).toMatchObject({ state: "dead_lettered", status: 508 });
    const final = retried(1, { ...event, isRetryable: false });
    expect(final).toMatchObject({ state: "failed", status: 501, outcome: RESULT });
    expect(final.attempts[0]!.closed).toBe("result");
  });

  test("releases and unreachable recipients use up no attempt, but are bounded", () => {
    for (const type of ["release", "unreachable"] as const) {
      const some = retried(20, { type }, { backoffCapMs: 50 });
      expect(some.state).toBe("open");
      expect(some.attempts).toHaveLength(20);
    }
    const terms = { backoffCapMs: 1, backoffMs: 1 };
    const before = retried(ATTEMPTS_AT_MOST - 1, { type: "release" }, terms);
    expect(before.state).toBe("open");
    for (const type of ["release", "pause", "unreachable"] as const) {
      const at = before.nextAttemptAt!;
      const attempt = ATTEMPTS_AT_MOST;
      const end = after(before, { type: "offer", at }, { type, attempt, at: at + 1_000 });
      expect(end).toMatchObject({ state: "dead_lettered", status: 508, nextAttemptAt: null });
      expect(end.attempts).toHaveLength(ATTEMPTS_AT_MOST);
    }
  });

  test("a recipient's retry time is honoured, up to the deadline", () => {
    const first = { type: "release", status: 301 } as const;
    const released = after(offered, { ...first, retryAfterMs: 7_000 });
    expect(released.nextAttemptAt).toBe(START + 7_000);
    for (const retryAfterMs of [1e300, Infinity]) {
      expect(after(offered, { ...first, retryAfterMs }).nextAttemptAt).toBe(DEADLINE);
    }
    for (const retryAfterMs of [Number.NaN, -1e9, 0]) {
      const { nextAttemptAt } = after(offered, { ...first, retryAfterMs });
      expect(nextAttemptAt).toBeGreaterThanOrEqual(START + TERMS.backoffMs / 2);
      expect(nextAttemptAt).toBeLessThanOrEqual(START + TERMS.backoffMs);
    }
    const interrupted = after(offered, { type: "result", status: 501, retryAfterMs: 7_000 });
    expect(interrupted.nextAttemptAt).toBe(START + 7_000);
  });

  test("a result or rejection with a status that is no failure is malformed", () => {
    for (const status of [100, 102, 201, 300]) {
      expect(refusalOf(offered, { type: "result", status })).toBe(400);
      expect(refusalOf(offered, { type: "reject", status })).toBe(400);
    }
    expect(refusalOf(offered, { type: "reject", status: 200 })).toBe(400);
    expect(refusalOf(offered, { type: "dead_letter", status: 200 })).toBe(400);
  });
});

describe("rejection", () => {
  const toAnyone = stateAfter({ type: "submit", recipient: null }, { type: "offer" });

  test("if the hub picks the recipient, another one is asked, and none twice", () => {
    for (const status of [403, 404, 406]) {
      const next = after(toAnyone, { type: "reject", status });
      expect(next).toMatchObject({ state: "open", status });
      const at = next.nextAttemptAt!;
      expect(at).toBe(START);
      expect(refusalOf(next, { type: "offer", recipient: "r", at })).toBe(403);
      expect(replyTo(next, { type: "offer", recipient: "s", at })).toBe(100);
    }
  });

  test("if no other agent could help, it is the outcome", () => {
    expect(after(toAnyone, { type: "reject", status: 422 })).toMatchObject({
      state: "failed",
      status: 422,
      outcome: RESULT,
    });
    expect(after(offered, { type: "reject", status: 404 }).state).toBe("failed");
  });

  test("if the last attempt is rejected, the handoff has failed and is no dead letter", () => {
    let state = stateAfter({ type: "submit", recipient: null });
    for (let attempt = 1; attempt <= ATTEMPTS_AT_MOST; attempt++) {
      const at = state.nextAttemptAt!;
      const by = `r${attempt}`;
      state = after(
        state,
        { type: "offer", recipient: by, at },
        { type: "reject", by, attempt, status: 404, at },
      );
    }
    expect(state).toMatchObject({ state: "failed", status: 404, outcome: RESULT });
  });
});

describe("notifications", () => {
  test("a verdict that is retried is not forwarded as the end", () => {
    const { effects } = step(accepted, eventFrom({ type: "result", status: 503 }));
    expect(effects.map(({ type }) => type)).toEqual(["reply", "retry"]);
  });

  test("acceptance, progress, questions and releases go to the delegator", () => {
    const forward = { type: "forward", to: "delegator", attempt: 1 };
    for (const type of ["accept", "progress", "question", "pause", "release"] as const) {
      expect(step(offered, eventFrom({ type })).effects).toContainEqual(forward);
    }
  });

  test("an answer goes to the recipient that waits, and is kept for one that has paused", () => {
    const forward = { type: "forward", to: "recipient", attempt: 1 };
    expect(step(waiting, eventFrom({ type: "answer" })).effects).toContainEqual(forward);
    expect(step(paused, eventFrom({ type: "answer" })).effects).toEqual([
      { type: "reply", status: 100 },
    ]);
  });

  test("a silent recipient is told to stop, also after the last attempt", () => {
    for (const maxAttempts of [1, 3]) {
      const state = stateAfter(
        { type: "submit", terms: { ...TERMS, maxAttempts } },
        { type: "offer" },
        { type: "accept" },
      );
      const { effects } = step(state, eventFrom({ type: "lease_lost", at: START + 300 }));
      expect(effects).toContainEqual({ type: "stop", attempt: 1, recipient: "r", status: 502 });
    }
  });
});

describe("between attempts", () => {
  test("a cancel ends it, and another cancel is a duplicate", () => {
    const released = after(offered, { type: "release" });
    for (const state of [submitted, released, paused]) {
      const ended = after(state, { type: "cancel" });
      expect(ended).toMatchObject({ state: "cancelled", status: 499, outcome: CANCEL });
      expect(ended.attempts).toEqual(state.attempts);
      expect(refusalOf(ended, { type: "cancel" })).toBe(201);
      expect(refusalOf(ended, { type: "cancel", digest: OTHER })).toBe(410);
    }
  });

  test("an acknowledgement names the outcome, and a second one changes nothing", () => {
    const ended = after(accepted, { type: "result" });
    expect(refusalOf(ended, { type: "acknowledge", outcome: OTHER })).toBe(409);
    const acknowledged = after(ended, { type: "acknowledge" });
    expect(refusalOf(acknowledged, { type: "acknowledge" })).toBe(201);
    expect(acknowledged.digest).toBe(HANDOFF);
  });
});
