import { expect, test } from "vitest";
import type { Handoff, LifecycleEvent } from "./handoff.ts";
import { step } from "./lifecycle.ts";
import { CANCEL, eventFrom, OTHER, START, TERMS } from "./lifecycle-fixture.ts";
import { dueEvent, isOfferDue, wakeAt } from "./timer.ts";

// The clock advances by this much with every event that changes something, so that a sequence with
// refused events is the same as the sequence without them, and needs no second visit.
const TICK = 50;
const LENGTH = 9;
const DEADLINE = START + 7 * TICK;

const QUIET_MS = 60;
const TERMS_OF_TWO = {
  ...TERMS,
  maxAttempts: 2,
  backoffMs: 1,
  offerMs: QUIET_MS,
  leaseMs: QUIET_MS,
};

const ALPHABET: ((now: number) => LifecycleEvent)[] = (
  [
    { type: "submit", recipient: null, deadline: DEADLINE },
    { type: "submit", recipient: null, deadline: DEADLINE, digest: OTHER },
    { type: "offer" },
    { type: "offer", recipient: "s" },
    { type: "taken" },
    { type: "heartbeat" },
    { type: "accept" },
    { type: "accept", by: "s" },
    { type: "accept", re: OTHER },
    { type: "progress", attempt: 2 },
    { type: "question" },
    { type: "question", questions: ["q", "p"] },
    { type: "pause" },
    { type: "answer" },
    { type: "answer", digest: OTHER },
    { type: "answer", by: "s" },
    { type: "reject", status: 404 },
    { type: "reject", by: "s", attempt: 2 },
    { type: "release" },
    { type: "result" },
    { type: "result", attempt: 2, digest: OTHER },
    { type: "result", by: "s", attempt: 2, status: 500, isRetryable: true },
    { type: "result", status: 501 },
    { type: "cancel" },
    { type: "cancel", by: "s" },
    { type: "acknowledge" },
    { type: "acknowledge", outcome: CANCEL },
    { type: "unreachable" },
    { type: "lease_lost" },
    { type: "lease_lost", attempt: 2 },
    { type: "parent_ended" },
    { type: "group_decided" },
    { type: "dead_letter" },
    { type: "discard" },
  ] as const
).map(
  (given) =>
    (now: number): LifecycleEvent =>
      eventFrom({ ...given, at: now }),
);

// The clock jumps ahead only for these, so that later events in a sequence come from the past.
ALPHABET.push(
  () => eventFrom({ type: "expire", at: DEADLINE }),
  (now) => eventFrom({ type: "unreachable", at: now + QUIET_MS }),
  (now) => eventFrom({ type: "lease_lost", at: now + QUIET_MS }),
  (now) => eventFrom({ type: "lease_lost", attempt: 2, at: now + QUIET_MS }),
);

function frozen(state: Handoff): Handoff {
  for (const attempt of state.attempts) Object.freeze(attempt);
  for (const question of state.questions) Object.freeze(question);
  Object.freeze(state.attempts);
  Object.freeze(state.questions);
  return Object.freeze(state);
}

function faultOf(
  before: Handoff | undefined,
  event: LifecycleEvent,
  { state, effects }: ReturnType<typeof step>,
): string | undefined {
  if (effects[0]?.type !== "reply") return "no reply first";
  if (effects.filter(({ type }) => type === "reply").length > 1) return "two replies";
  if (state === before) return effects.length === 1 ? undefined : "effects of a refusal";
  if (state === undefined) return "custody lost";
  const ends = effects.filter(({ type }) => type === "ended").length;
  const hasEnded = (before === undefined || before.state === "open") && state.state !== "open";
  if (ends !== (hasEnded ? 1 : 0)) return "an end is not told once";
  if (before !== undefined && before.state !== "open") {
    const { isAcknowledged, isDiscarded } = state;
    const expected = JSON.stringify({ ...before, isAcknowledged, isDiscarded });
    if (JSON.stringify(state) !== expected) return "an ended handoff changed";
  }
  for (const [index, attempt] of state.attempts.entries()) {
    if (attempt.number !== index + 1) return "attempts are not numbered 1 to n";
    const isLast = index === state.attempts.length - 1;
    if (attempt.state !== "closed" && !isLast) return "an attempt before the last is live";
    if ((attempt.state === "closed") !== (attempt.closed !== null))
      return "closed without a reason";
    if (attempt.state === "closed" && attempt.silentAt !== null) return "closed but not silent";
    const earlier = before?.attempts[index];
    if (earlier?.state === "closed" && earlier !== attempt) return "a closed attempt changed";
    if (attempt.state === "waiting" && attempt.status !== 103) return "waiting without 103";
  }
  const live = state.attempts.at(-1);
  const isLive = live !== undefined && live.state !== "closed";
  if (isLive && state.nextAttemptAt !== null) return "an offer is due beside a live attempt";
  if (isLive && state.state !== "open") return "an attempt outlives its handoff";
  if (!isLive && state.state === "open" && state.nextAttemptAt === null) {
    const isAsked = state.questions.some((question) => question.answer === null);
    if (live?.closed !== "paused" || !isAsked)
      return "nothing will ever happen before the deadline";
  }
  if (isLive && (live.state === "waiting") !== (live.silentAt === null)) return "lease of a wait";
  if ((wakeAt(state) === null) !== (state.state !== "open")) return "the clock is armed wrongly";
  if (state.state === "completed" && state.status !== 200) return "completed without 200";
  if (state.state === "cancelled" && state.status !== 499) return "cancelled without 499";
  if (state.state === "failed" && state.status < 400) return "failed without a failure";
  if (state.state === "dead_lettered" && state.status < 400) return "a dead letter without reason";
  if (state.state === "open" && (state.status === 200 || state.outcome !== null)) {
    return "open with an outcome";
  }
  if (state.state === "completed" && state.outcome === null) return "completed by nobody";
  if (state.state === "completed" && event.type === "result" && event.at >= DEADLINE) {
    return "completed late";
  }
  return timerFaultOf(state, event.at);
}

function timerFaultOf(state: Handoff, now: number): string | undefined {
  const wake = wakeAt(state) ?? Infinity;
  for (const at of [now - TICK, now, now + TICK, wake - 1, wake, state.deadline]) {
    if (!Number.isFinite(at)) continue;
    const due = dueEvent(state, at);
    const isDue = due !== undefined || isOfferDue(state, at);
    if (isDue !== at >= wake) return `at ${at - now} the clock is ${isDue ? "late" : "early"}`;
    if (due !== undefined && step(state, due).state === state) return "a due event is refused";
  }
  return undefined;
}

test(`every sequence of up to ${LENGTH} events that change something keeps the promises`, () => {
  let steps = 0;
  let resumed = 0;
  const reached = new Set<string>();
  const walk = (state: Handoff | undefined, depth: number, trail: LifecycleEvent[]): void => {
    for (const make of ALPHABET) {
      const made = make(START + depth * TICK);
      const event = made.type === "submit" ? { ...made, terms: TERMS_OF_TWO } : made;
      const next = step(state, event);
      steps++;
      const fault = faultOf(state, event, next);
      if (fault !== undefined) throw new Error(`${fault}: ${JSON.stringify([...trail, event])}`);
      if (next.state === state || next.state === undefined) continue;
      if (next.state.resumes !== null && next.state.attempts.length > 1) resumed++;
      reached.add(`${next.state.state} ${next.state.status}`);
      if (depth < LENGTH - 1) walk(frozen(next.state), depth + 1, [...trail, event]);
    }
  };
  walk(undefined, 0, []);
  // The walk means something only if it reaches every state.
  expect(steps).toBeGreaterThan(500_000);
  for (const end of ["completed 200", "failed 500", "cancelled 499"]) {
    expect(reached).toContain(end);
  }
  for (const status of [404, 504, 508]) expect(reached).toContain(`dead_lettered ${status}`);
  expect(resumed).toBeGreaterThan(0);
}, 30_000);
