import { describe, expect, test } from "vitest";
import { DEFAULT_TERMS, dueEvent, eventOf, isOfferDue, step, wakeAt } from "../hub.ts";
import { STATUS } from "../index.ts";
import type { Handoff } from "../hub.ts";
import type { StatusCode } from "../index.ts";
import { ANSWER, DEADLINE, OTHER, RESULT, START, TERMS } from "../lifecycle/lifecycle-fixture.ts";
import { readWith } from "./rules-fixture.ts";
import {
  accept,
  after,
  again,
  endedStates,
  offer,
  openStates,
  refused,
  retryable,
  follow,
  toAnyone,
} from "./states-fixture.ts";
import type { Given } from "./states-fixture.ts";

/** A submission whose contract allows that many attempts. */
function limited(maxAttempts: number, members: Record<string, unknown> = {}): Given {
  return { type: "submit", terms: { ...TERMS, maxAttempts }, ...members };
}

test("WB-48 an attempt that is not taken in time ends as unreachable, 503", () => {
  const { offered } = openStates();
  const end = START + TERMS.offerMs;
  expect(dueEvent(offered, end - 1)).toBeUndefined();
  expect(refused(offered, { type: "unreachable", at: end - 1 })).toBe(403);
  expect(refused(offered, { type: "lease_lost", at: end })).toBe(403);
  const due = dueEvent(offered, end)!;
  expect(due).toEqual({ type: "unreachable", attempt: 1, at: end });
  const { state } = step(offered, due);
  expect(state!.attempts[0]).toMatchObject({ state: "closed", closed: "unreachable", status: 503 });
});

test("WB-48 an accepted attempt that is silent for its lease ends as lease_lost, 502", () => {
  const { accepted } = openStates();
  const beat = follow(accepted, { type: "heartbeat", at: START + 200 });
  const worked = follow(accepted, { type: "progress", at: START + 200 });
  for (const [state, since] of [
    [accepted, START],
    [beat, START + 200],
    [worked, START + 200],
  ] as const) {
    const end = since + TERMS.leaseMs;
    expect(dueEvent(state, end - 1)).toBeUndefined();
    expect(refused(state, { type: "lease_lost", at: end - 1 })).toBe(403);
    expect(refused(state, { type: "unreachable", at: end })).toBe(403);
    expect(dueEvent(state, end)).toEqual({ type: "lease_lost", attempt: 1, at: end });
    const lost = follow(state, { type: "lease_lost", at: end });
    expect(lost.attempts[0]).toMatchObject({ state: "closed", closed: "lease_lost", status: 502 });
  }
});

test("WB-48 an attempt that was taken and stays silent is lost, not unreachable", () => {
  const { offered } = openStates();
  const taken = follow(offered, { type: "taken", at: START + 10 });
  const end = wakeAt(taken)!;
  expect(end).toBeGreaterThan(START + 10);
  expect(end).toBeLessThanOrEqual(START + 10 + TERMS.leaseMs);
  expect(refused(taken, { type: "unreachable", at: end })).toBe(403);
  expect(dueEvent(taken, end)).toEqual({ type: "lease_lost", attempt: 1, at: end });
  const lost = follow(taken, { type: "lease_lost", at: end });
  expect(lost.attempts[0]).toMatchObject({ closed: "lease_lost", status: 502 });
});

test("WB-49 while a question is open the lease is suspended and only the deadline counts", () => {
  const { waiting } = openStates();
  const at = START + 10;
  const stillWaiting = [
    waiting,
    follow(waiting, { type: "progress", at }),
    follow(waiting, { type: "answer", question: "q", at }),
  ];
  for (const state of stillWaiting) {
    expect(wakeAt(state)).toBe(DEADLINE);
    expect(refused(state, { type: "heartbeat", at })).toBe(100);
    expect(dueEvent(state, DEADLINE - 1)).toBeUndefined();
    expect(refused(state, { type: "lease_lost", at: DEADLINE - 1 })).toBe(403);
    expect(dueEvent(state, DEADLINE)?.type).toBe("expire");
  }
});

test("WB-49 the last answer restarts the lease", () => {
  const { waiting } = openStates();
  const at = START + 50_000;
  const answered = follow(
    waiting,
    { type: "answer", question: "q", at: at - 1 },
    { type: "answer", question: "p", digest: OTHER, at },
  );
  expect(answered.attempts[0]!.state).toBe("accepted");
  expect(wakeAt(answered)).toBe(at + TERMS.leaseMs);
  expect(dueEvent(answered, at + TERMS.leaseMs)?.type).toBe("lease_lost");
});

test("WB-50 an answer to a question that was not asked is 403", () => {
  const { submitted, accepted, waiting, paused } = openStates();
  for (const state of [submitted, accepted, waiting, paused, endedStates().completed]) {
    expect(refused(state, { type: "answer", question: "z" })).toBe(403);
  }
});

test("WB-50 a second answer changes nothing: 201 for the same envelope, otherwise 410", () => {
  const { waiting, paused } = openStates();
  for (const state of [waiting, paused]) {
    const answered = follow(state, { type: "answer", question: "q" });
    const allAnswered = follow(answered, { type: "answer", question: "p", digest: OTHER });
    for (const one of [answered, allAnswered]) {
      expect(refused(one, { type: "answer", question: "q", digest: ANSWER })).toBe(201);
      expect(refused(one, { type: "answer", question: "q", digest: RESULT })).toBe(410);
    }
  }
});

describe("a pause", () => {
  const pause = { type: "pause", questions: ["q", "p"] } as const;
  const pausedOfAnyone = () => follow(after(toAnyone, offer, accept), pause);
  const answers: Given[] = [
    { type: "answer", question: "q" },
    { type: "answer", question: "p", digest: OTHER },
  ];

  test("WB-51 is a question with a state, and ends the attempt as paused", () => {
    const { paused } = openStates();
    const withState = { body: { questions: [{ id: "q" }], state: "" } };
    const { envelope, digest } = readWith("question", withState);
    expect(eventOf(envelope, digest, START)).toMatchObject({ type: "pause", questions: ["q"] });
    const { envelope: without } = readWith("question", { body: { questions: [{ id: "q" }] } });
    expect(eventOf(without, digest, START)).toMatchObject({ type: "question" });
    expect(paused.attempts[0]).toMatchObject({ state: "closed", closed: "paused", status: 103 });
    expect(paused.state).toBe("open");
  });

  test("WB-51 is over when every question of that attempt is answered", () => {
    for (const [first, last] of [answers, answers.toReversed()] as [Given, Given][]) {
      const none = pausedOfAnyone();
      const half = follow(none, first);
      for (const state of [none, half]) {
        expect(isOfferDue(state, DEADLINE - 1)).toBe(false);
        expect(refused(state, { type: "offer", at: DEADLINE - 1 })).toBe(403);
      }
      const whole = follow(half, { ...last, at: START + 7 });
      expect(isOfferDue(whole, START + 7)).toBe(true);
      expect(again(whole).attempts).toHaveLength(2);
    }
  });

  test("WB-51 is followed by an attempt of the same agent only", () => {
    const whole = follow(pausedOfAnyone(), ...answers);
    const at = START + 1_000;
    expect(refused(whole, { type: "offer", recipient: "s", at })).toBe(403);
    const second = again(whole, "r");
    const unreached = follow(second, {
      type: "unreachable",
      attempt: 2,
      at: START + TERMS.offerMs,
    });
    const later = unreached.nextAttemptAt!;
    expect(refused(unreached, { type: "offer", recipient: "s", at: later })).toBe(403);
    expect(again(unreached, "r").attempts).toHaveLength(3);
  });
});

test("WB-52 a release, an unreachable recipient, a pause and a rejection use up no attempt", () => {
  const one = (...events: Given[]) =>
    follow(after(limited(1, { recipient: null }), offer), ...events);
  const free: Record<string, Handoff> = {
    release: one({ type: "release", status: 300 }),
    "no credit": one(accept, { type: "release", status: 301 }),
    unreachable: one({ type: "unreachable", at: START + TERMS.offerMs }),
    pause: one(accept, { type: "pause" }, { type: "answer" }),
    rejection: one({ type: "reject", status: 404 }),
  };
  for (const [name, state] of Object.entries(free)) {
    expect(state.state, name).toBe("open");
    expect(again(state, name === "rejection" ? "s" : "r").attempts, name).toHaveLength(2);
  }
});

test("WB-52 a retryable result, an interruption and a lost lease use up an attempt", () => {
  const tries: Record<string, Given> = {
    result: retryable,
    interruption: { type: "result", status: 501 },
    "lost lease": { type: "lease_lost", at: START + TERMS.leaseMs },
  };
  for (const [name, event] of Object.entries(tries)) {
    const first = follow(after(limited(2), offer, accept), event);
    expect(first.state, name).toBe("open");
    const second = again(first);
    const at = second.attempts[1]!.silentAt! - 1;
    const working = follow(second, { ...accept, attempt: 2, at });
    const last = follow(working, { ...event, attempt: 2, at: at + TERMS.leaseMs });
    expect(last.state, name).not.toBe("open");
    expect(follow(after(limited(1), offer, accept), event).state, name).not.toBe("open");
  }
});

test("WB-53 the last attempt ends the handoff with its verdict, or as a dead letter, 508", () => {
  const lost: Given = { type: "lease_lost", at: START + TERMS.leaseMs };
  const once = (event: Given) => follow(after(limited(1), offer, accept), event);
  expect(once(retryable)).toMatchObject({ state: "failed", status: 500, outcome: RESULT });
  expect(once({ type: "result", status: 501 })).toMatchObject({
    state: "dead_lettered",
    status: 508,
  });
  expect(once(lost)).toMatchObject({ state: "dead_lettered", status: 508, outcome: null });

  // The last attempt decides, whatever the earlier ones said.
  const twice = (first: Given, second: Given) => {
    const next = again(follow(after(limited(2), offer, accept), first));
    const at = next.attempts[1]!.silentAt! - 1;
    return follow(
      next,
      { ...accept, attempt: 2, at },
      { attempt: 2, ...second, at: at + TERMS.leaseMs },
    );
  };
  expect(twice(retryable, lost)).toMatchObject({ state: "dead_lettered", status: 508 });
  const verdict = { ...retryable, status: 424, digest: OTHER };
  expect(twice(lost, verdict)).toMatchObject({
    state: "failed",
    status: 424,
    outcome: OTHER,
  });
});

describe("a failure", () => {
  const failure = (status: StatusCode, isRetryable?: boolean): Given => ({
    type: "result",
    status,
    ...(isRetryable !== undefined && { isRetryable }),
  });

  test("WB-54 of 500 or 424 is retried if retryable is true", () => {
    const { accepted } = openStates();
    for (const status of [500, 424] as const) {
      expect(follow(accepted, failure(status, true)).state).toBe("open");
      expect(follow(accepted, failure(status)).state).toBe("failed");
    }
    const body = { status: 500, error: { message: "no", retryable: true, retry_after_ms: 7 } };
    const { envelope, digest } = readWith("result", { body });
    expect(eventOf(envelope, digest, START)).toMatchObject({ isRetryable: true, retryAfterMs: 7 });
  });

  test("WB-54 of 520 is retried once", () => {
    const { accepted } = openStates();
    const first = again(follow(accepted, failure(520)));
    const at = START + 150;
    const second = follow(first, { ...failure(520), attempt: 2, at });
    expect(second).toMatchObject({ state: "failed", status: 520 });
    expect(DEFAULT_TERMS.maxAttempts).toBeGreaterThan(2);
  });

  test("WB-54 is not retried after retryable: false, whatever its status", () => {
    const { accepted } = openStates();
    const failures = (Object.keys(STATUS).map(Number) as StatusCode[]).filter(
      (code) => code >= 400,
    );
    for (const status of failures) {
      const ended = follow(accepted, failure(status, false));
      expect(ended, `${status}`).toMatchObject({ state: "failed", status, outcome: RESULT });
    }
  });

  test("WB-54 is not retried if the table says never, whatever the recipient says", () => {
    const { accepted } = openStates();
    for (const status of [400, 401, 403, 409, 410, 413, 422, 499, 504, 508] as const) {
      expect(STATUS[status].retry).toBe("never");
      for (const isRetryable of [true, undefined]) {
        expect(follow(accepted, failure(status, isRetryable)).state, `${status}`).toBe("failed");
      }
    }
  });
});
