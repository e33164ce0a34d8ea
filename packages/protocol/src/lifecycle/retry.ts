import type { Attempt, Handoff } from "./handoff.ts";
import { STATUS } from "../status.ts";
import type { StatusCode } from "../status.ts";
import { CLOSE_REASONS } from "./transitions.ts";

/**
 * The limit for attempts of any kind, including released and unreachable ones: beyond it a handoff is
 * a dead letter.
 */
export const ATTEMPTS_AT_MOST = 256;

/** True if the contract allows no attempt after these. */
export function isExhausted(state: Handoff, attempts: readonly Attempt[]): boolean {
  return attempts.length >= ATTEMPTS_AT_MOST || tries(attempts) >= state.terms.maxAttempts;
}

/** Whether another attempt may change this verdict of a recipient. */
export function isWorthRetrying(
  state: Handoff,
  status: StatusCode,
  isRetryable: boolean | undefined,
): boolean {
  switch (STATUS[status].retry) {
    case "per_flag":
      return isRetryable === true;
    case "once":
      return isRetryable !== false && !state.attempts.some((attempt) => attempt.status === status);
    case "yes":
    case "later":
    case "possible":
      return isRetryable !== false;
    default:
      return false;
  }
}

/** Whether another agent may be asked after a rejection: only if the hub picked the recipient. */
export function hasOthersToAsk(state: Handoff, status: StatusCode): boolean {
  const retry = STATUS[status].retry;
  return (
    state.recipient === null &&
    state.resumes === null &&
    (retry === "elsewhere" || retry === "renegotiate" || status === 403)
  );
}

/**
 * When the next attempt may start: the delay doubles with each attempt, and is never less than the
 * recipient asked for. The jitter is derived from the handoff's id, so that a restarted hub finds the
 * same time and a thousand handoffs that failed together are not retried together.
 */
export function nextAttemptAt(
  state: Handoff,
  attempts: readonly Attempt[],
  at: number,
  retryAfterMs = 0,
): number {
  const { backoffMs, backoffCapMs } = state.terms;
  const full = Math.min(backoffCapMs, backoffMs * 2 ** Math.min(attempts.length - 1, 30));
  const jittered = Math.ceil(full * (0.5 + 0.5 * fractionOf(state.id, attempts.length)));
  // A recipient may send any time; beyond the deadline there is nothing to wait for.
  return Math.min(state.deadline, at + (retryAfterMs > jittered ? retryAfterMs : jittered));
}

function tries(attempts: readonly Attempt[]): number {
  let count = 0;
  for (const { closed } of attempts)
    if (closed !== null && CLOSE_REASONS[closed].countsAsTry) count++;
  return count;
}

/** A number in [0, 1) from an id and a count: FNV-1a, which spreads similar ids well enough. */
function fractionOf(id: string, count: number): number {
  let hash = 0x811c9dc5 ^ count;
  for (let index = 0; index < id.length; index++) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) / 2 ** 32;
}
