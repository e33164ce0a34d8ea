import { retryOrEnd, ended } from "./ending.ts";
import { DEFAULT_TERMS } from "./handoff.ts";
import type { Attempt, EventOf, Handoff, LifecycleEvent, Step } from "./handoff.ts";
import { answered } from "./question.ts";
import { byRecipient } from "./recipient.ts";
import { noted, RECEIVED, refused } from "./reply.ts";
import { isFailure } from "../status.ts";
import { ATTEMPT_MOVES } from "./transitions.ts";

/**
 * The complete lifecycle of a handoff: the state after an event, and what has to be done about it.
 * Pure; a refused event returns the same state object and one `reply` with the reason's status.
 */
export function step(state: Handoff | undefined, event: LifecycleEvent): Step {
  if (event.type === "submit")
    return state === undefined ? submitted(event) : resubmitted(state, event);
  if (state === undefined) return refused(state, 403);
  if (state.state === "open" && event.at >= state.deadline) return expiredBefore(state, event);
  switch (event.type) {
    case "offer":
      return offered(state, event);
    case "answer":
      return answered(state, event);
    case "cancel":
      return cancelled(state, event);
    case "acknowledge":
      return acknowledged(state, event);
    case "parent_ended":
    case "group_decided":
      if (state.state !== "open") return refused(state, 410);
      return ended(state, event.type, 499, null);
    case "expire":
      return refused(state, state.state === "open" ? 403 : 410);
    case "dead_letter":
      if (state.state !== "open") return refused(state, 410);
      if (!isFailure(event.status)) return refused(state, 400);
      return ended(state, "dead_letter", event.status, null);
    case "discard":
      if (state.state !== "dead_lettered") return refused(state, 403);
      if (state.isDiscarded) return refused(state, 201);
      return noted({ ...state, isDiscarded: true });
    case "unreachable":
    case "lease_lost":
      return attemptTimedOut(state, event);
    default:
      return byRecipient(state, event);
  }
}

/**
 * The deadline precedes every event at or after it, even if the timer is late: the handoff expires
 * first, and the sender gets the answer that it would have got a moment later.
 */
function expiredBefore(state: Handoff, event: LifecycleEvent): Step {
  // Neither can refer to a handoff whose end was not reported yet.
  if (event.type === "acknowledge" || event.type === "discard") return refused(state, 403);
  const expired = ended(state, "expire", 504, null);
  if (event.type === "expire") return expired;
  const { effects } = step(expired.state, event);
  return { state: expired.state, effects: [...effects, ...expired.effects.slice(1)] };
}

function submitted(event: EventOf<"submit">): Step {
  // Without a finite deadline nothing would ever settle the handoff.
  if (!Number.isFinite(event.deadline)) return refused(undefined, 400);
  if (event.deadline <= event.at) return refused(undefined, 504);
  const startsAt = Math.max(event.at, event.notBefore ?? event.at);
  const state: Handoff = {
    id: event.id,
    digest: event.digest,
    delegator: event.by,
    recipient: event.recipient,
    deadline: event.deadline,
    terms: event.terms === undefined ? DEFAULT_TERMS : { ...DEFAULT_TERMS, ...event.terms },
    state: "open",
    status: 100,
    attempts: [],
    questions: [],
    nextAttemptAt: startsAt,
    resumes: null,
    outcome: null,
    isAcknowledged: false,
    isDiscarded: false,
  };
  return { state, effects: [RECEIVED, { type: "retry", at: startsAt }] };
}

function resubmitted(state: Handoff, event: EventOf<"submit">): Step {
  // Knowing an id is not owning it: a stranger learns nothing about the handoff.
  if (event.by !== state.delegator) return refused(state, 403);
  return refused(state, event.digest === state.digest ? 201 : 409);
}

function offered(state: Handoff, event: EventOf<"offer">): Step {
  if (state.state !== "open") return refused(state, 410);
  const { recipient, at } = event;
  if (state.nextAttemptAt === null || at < state.nextAttemptAt) return refused(state, 403);
  const only = state.resumes?.recipient ?? state.recipient;
  if (only !== null && recipient !== only) return refused(state, 403);
  // The terms are the same, so its answer would be too: without this a router could ask in a loop.
  if (state.attempts.some((each) => each.closed === "rejected" && each.recipient === recipient)) {
    return refused(state, 403);
  }
  const attempt: Attempt = {
    number: state.attempts.length + 1,
    recipient,
    state: "offered",
    closed: null,
    status: 100,
    isTaken: false,
    silentAt: at + state.terms.offerMs,
  };
  return {
    state: { ...state, status: 100, attempts: [...state.attempts, attempt], nextAttemptAt: null },
    effects: [RECEIVED, { type: "offer", attempt: attempt.number, recipient }],
  };
}

function attemptTimedOut(state: Handoff, event: EventOf<"unreachable" | "lease_lost">): Step {
  const attempt = state.attempts[event.attempt - 1];
  if (attempt === undefined) return refused(state, 403);
  if (attempt.state === "closed") return refused(state, 410);
  const { type, at } = event;
  const isUntaken = attempt.state === "offered" && !attempt.isTaken;
  const mayMove = ATTEMPT_MOVES[type].moves[attempt.state] !== undefined;
  if (!mayMove || isUntaken !== (type === "unreachable")) return refused(state, 403);
  if (at < (attempt.silentAt ?? Infinity)) return refused(state, 403);
  const status = type === "unreachable" ? 503 : 502;
  const next = retryOrEnd(state, attempt, { name: type, status, at });
  const { number, recipient } = attempt;
  return {
    state: next.state,
    effects: [...next.effects, { type: "stop", attempt: number, recipient, status }],
  };
}

function cancelled(state: Handoff, event: EventOf<"cancel">): Step {
  if (event.by !== state.delegator) return refused(state, 403);
  if (state.state !== "open") return refused(state, state.outcome === event.digest ? 201 : 410);
  return ended(state, "cancel", 499, event.digest);
}

function acknowledged(state: Handoff, event: EventOf<"acknowledge">): Step {
  if (event.by !== state.delegator) return refused(state, 403);
  if (state.state === "open") return refused(state, 403);
  // If no party's envelope ended it, the notice is the hub's own, made after this step.
  if (state.outcome !== null && state.outcome !== event.outcome) return refused(state, 409);
  if (state.isAcknowledged) return refused(state, 201);
  return noted({ ...state, isAcknowledged: true });
}
