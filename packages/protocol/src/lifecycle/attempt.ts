import type { Attempt, Handoff } from "./handoff.ts";
import type { StatusCode } from "../status.ts";
import { ATTEMPT_MOVES } from "./transitions.ts";
import type { AttemptEventName } from "./transitions.ts";

/** The live attempt, or undefined between attempts. There is never more than one. */
export function liveAttempt(state: Handoff): Attempt | undefined {
  const last = state.attempts[state.attempts.length - 1];
  return last !== undefined && last.state !== "closed" ? last : undefined;
}

/** The attempts with the live one, which is always the last, replaced. */
export function withLast(state: Handoff, attempt: Attempt): readonly Attempt[] {
  const attempts = state.attempts.slice();
  attempts[attempts.length - 1] = attempt;
  return attempts;
}

/** The attempts with the live one closed, for the reason in the event's row of the table. */
export function closeLast(
  state: Handoff,
  attempt: Attempt,
  name: AttemptEventName,
  status: StatusCode,
): readonly Attempt[] {
  return withLast(state, {
    ...attempt,
    state: "closed",
    closed: ATTEMPT_MOVES[name].closes!,
    status,
    silentAt: null,
  });
}
