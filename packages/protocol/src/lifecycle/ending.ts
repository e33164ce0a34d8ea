import { closeLast, liveAttempt } from "./attempt.ts";
import type { Digest } from "../signing/digest.ts";
import type { Attempt, Handoff, LifecycleEffect, Step } from "./handoff.ts";
import { RECEIVED } from "./reply.ts";
import { isExhausted, nextAttemptAt } from "./retry.ts";
import type { StatusCode } from "../status.ts";
import { ATTEMPT_MOVES, CLOSE_REASONS, HANDOFF_MOVES } from "./transitions.ts";
import type { AttemptEventName, HandoffEventName } from "./transitions.ts";

/** The only way into an ended state. A live attempt is superseded by it. */
export function ended(
  state: Handoff,
  name: Exclude<HandoffEventName, "submit">,
  status: StatusCode,
  outcome: Digest | null,
): Step {
  const { to } = HANDOFF_MOVES[name];
  const live = liveAttempt(state);
  const effects: LifecycleEffect[] = [RECEIVED];
  let attempts = state.attempts;
  if (live !== undefined) {
    attempts = closeLast(state, live, "end", status);
    effects.push({ type: "stop", attempt: live.number, recipient: live.recipient, status });
  }
  effects.push({ type: "ended", state: to, status });
  return {
    state: { ...state, state: to, status, attempts, nextAttemptAt: null, outcome },
    effects,
  };
}

/** What closed an attempt without deciding the handoff. */
export interface InconclusiveEnd {
  readonly name: "result" | "reject" | "release" | "interrupt" | "unreachable" | "lease_lost";
  readonly status: StatusCode;
  readonly at: number;
  readonly retryAfterMs?: number | undefined;
  /** Of the envelope with the verdict, if there is one. */
  readonly digest?: Digest | undefined;
}

/**
 * Continues after an attempt that decided nothing: with the next one. If none is left, the last
 * attempt decides: a verdict fails the handoff, anything else makes it a dead letter.
 */
export function retryOrEnd(state: Handoff, attempt: Attempt, cause: InconclusiveEnd): Step {
  const { name, status, at } = cause;
  const attempts = closeLast(state, attempt, name, status);
  if (isExhausted(state, attempts)) return exhausted({ ...state, attempts }, name, cause);
  // After a rejection another agent is asked, at once: there is no reason for a backoff.
  const nextAt = name === "reject" ? at : nextAttemptAt(state, attempts, at, cause.retryAfterMs);
  const effects: LifecycleEffect[] = [RECEIVED];
  // A verdict that is retried stays with the hub: the delegator would take it for the end.
  if (name === "release") {
    effects.push({ type: "forward", to: "delegator", attempt: attempt.number });
  }
  effects.push({ type: "retry", at: nextAt });
  return { state: { ...state, status, attempts, nextAttemptAt: nextAt }, effects };
}

/** The end of a handoff that has no attempt left; the last one is closed. */
export function exhausted(
  state: Handoff,
  name: AttemptEventName,
  cause: { readonly status: StatusCode; readonly digest?: Digest | undefined },
): Step {
  const { isVerdict } = CLOSE_REASONS[ATTEMPT_MOVES[name].closes!];
  if (!isVerdict) return ended(state, "exhaust", 508, null);
  return ended(state, name === "reject" ? "reject" : "fail", cause.status, cause.digest ?? null);
}
