import type { Handoff, LifecycleEvent } from "./handoff.ts";
import { liveAttempt } from "./attempt.ts";

/** The event that is due now by the hub's clock, or undefined: the caller steps it and asks again. */
export function dueEvent(state: Handoff, now: number): LifecycleEvent | undefined {
  if (state.state !== "open") return undefined;
  if (now >= state.deadline) return { type: "expire", at: now };
  const attempt = liveAttempt(state);
  if (attempt?.silentAt == null || now < attempt.silentAt) return undefined;
  const type = attempt.state === "offered" && !attempt.isTaken ? "unreachable" : "lease_lost";
  return { type, attempt: attempt.number, at: now };
}

/** True if an attempt should be offered now; the router decides to whom. */
export function isOfferDue(state: Handoff, now: number): boolean {
  if (state.state !== "open" || state.nextAttemptAt === null) return false;
  return now >= state.nextAttemptAt && now < state.deadline;
}

/**
 * When this handoff is due next, or null if never again. All timers are derived from the state, so
 * arming them after a restart means reading the states.
 */
export function wakeAt(state: Handoff): number | null {
  if (state.state !== "open") return null;
  const silentAt = liveAttempt(state)?.silentAt ?? Infinity;
  return Math.min(state.deadline, silentAt, state.nextAttemptAt ?? Infinity);
}
