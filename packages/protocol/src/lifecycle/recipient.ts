import { closeLast, withLast } from "./attempt.ts";
import { retryOrEnd, ended } from "./ending.ts";
import type { Attempt, EventOf, Handoff, LifecycleEvent, Step } from "./handoff.ts";
import { asked } from "./question.ts";
import { noted, RECEIVED, refused } from "./reply.ts";
import { hasOthersToAsk, isWorthRetrying } from "./retry.ts";
import { isFailure } from "../status.ts";
import { ATTEMPT_MOVES } from "./transitions.ts";
import type { AttemptEventName, AttemptState } from "./transitions.ts";

type RecipientEvent = Extract<LifecycleEvent, { readonly by: string; readonly attempt: number }>;

/** Applies a recipient's event about an attempt. Only the holder of the attempt may send one. */
export function byRecipient(state: Handoff, event: RecipientEvent): Step {
  const attempt = state.attempts[event.attempt - 1];
  if (attempt === undefined || attempt.recipient !== event.by) return refused(state, 403);
  if ("re" in event && event.re !== state.digest) return refused(state, 409);
  if (attempt.state === "closed") {
    const isRepeated = "digest" in event && event.digest === state.outcome;
    return refused(state, isRepeated ? 201 : 410);
  }
  const name = nameOf(event);
  const to = ATTEMPT_MOVES[name].moves[attempt.state];
  if (to === undefined) return refused(state, name === "accept" ? 201 : 403);
  switch (event.type) {
    case "taken":
      return taken(state, attempt, event.at);
    case "heartbeat":
      return heartbeat(state, attempt, event.at);
    case "accept":
    case "progress":
      return working(state, attempt, to, event);
    case "question":
    case "pause":
      return asked(state, attempt, event);
    case "reject":
      return rejected(state, attempt, event);
    case "release":
      return retryOrEnd(state, attempt, { ...event, name: "release" });
    case "result":
      return concluded(state, attempt, event, name === "interrupt" ? name : "result");
  }
}

function nameOf(event: RecipientEvent): AttemptEventName {
  if (event.type !== "result" || event.status !== 501) return event.type;
  // A recipient that knows that its work must not be repeated says so: then this is its verdict.
  return event.isRetryable === false ? "result" : "interrupt";
}

function taken(state: Handoff, attempt: Attempt, at: number): Step {
  if (attempt.isTaken) return refused(state, 201);
  const silentAt = at + state.terms.graceMs;
  return noted({ ...state, attempts: withLast(state, { ...attempt, isTaken: true, silentAt }) });
}

function heartbeat(state: Handoff, attempt: Attempt, at: number): Step {
  // Before the acceptance and while a question is open there is no lease to extend.
  if (attempt.state !== "accepted") return refused(state, 100);
  const silentAt = extendedLease(state, attempt, at);
  if (silentAt === attempt.silentAt) return refused(state, 100);
  return noted({ ...state, attempts: withLast(state, { ...attempt, silentAt }) });
}

/** A clock that was set back must not shorten a lease. */
function extendedLease(state: Handoff, attempt: Attempt, at: number): number {
  const silentAt = at + state.terms.leaseMs;
  if (attempt.state !== "accepted" || attempt.silentAt === null) return silentAt;
  return Math.max(attempt.silentAt, silentAt);
}

function working(
  state: Handoff,
  attempt: Attempt,
  to: AttemptState,
  event: EventOf<"accept" | "progress">,
): Step {
  const isWaiting = to === "waiting";
  const status = isWaiting ? 103 : event.type === "accept" ? 101 : 102;
  const silentAt = isWaiting ? null : extendedLease(state, attempt, event.at);
  const attempts = withLast(state, { ...attempt, state: to, status, isTaken: true, silentAt });
  return {
    state: { ...state, status, attempts },
    effects: [RECEIVED, { type: "forward", to: "delegator", attempt: attempt.number }],
  };
}

function rejected(state: Handoff, attempt: Attempt, event: EventOf<"reject">): Step {
  const { status, digest, at } = event;
  if (!isFailure(status)) return refused(state, 400);
  if (hasOthersToAsk(state, status)) {
    return retryOrEnd(state, attempt, { name: "reject", status, digest, at });
  }
  const attempts = closeLast(state, attempt, "reject", status);
  return ended({ ...state, attempts }, "reject", status, digest);
}

function concluded(
  state: Handoff,
  attempt: Attempt,
  event: EventOf<"result">,
  name: "result" | "interrupt",
): Step {
  const { status, digest } = event;
  if (status !== 200 && !isFailure(status)) return refused(state, 400);
  if (isWorthRetrying(state, status, event.isRetryable)) {
    return retryOrEnd(state, attempt, { ...event, name });
  }
  const attempts = closeLast(state, attempt, name, status);
  return ended({ ...state, attempts }, status === 200 ? "succeed" : "fail", status, digest);
}
