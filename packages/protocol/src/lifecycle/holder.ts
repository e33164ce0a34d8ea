import type { SessionState } from "../session.ts";
import { liveAttempt } from "./attempt.ts";
import type { Attempt, Handoff } from "./handoff.ts";

/** After so many failures of its own in a handoff, the holder of the session loses its preference. */
const FAILURES_OF_HOLDER = 2;

/** The holder of the session as one handoff has left it; undefined if nobody holds it. */
export function sessionHolderOf(state: Handoff): string | undefined {
  if (state.state === "completed") return state.attempts.at(-1)?.recipient;
  if (state.state !== "open") return undefined;
  const live = liveAttempt(state);
  if (live !== undefined) return live.state === "offered" ? undefined : live.recipient;
  return state.resumes?.recipient;
}

/** Whether the holder of its session is preferred for a handoff. */
export function isHolderFirst({ attempts }: Pick<Handoff, "attempts">, holder: string): boolean {
  const failures = attempts.filter((each) => each.recipient === holder && isFailed(each));
  return failures.length < FAILURES_OF_HOLDER;
}

/** A release and a pause are no failures. */
function isFailed({ closed }: Attempt): boolean {
  return closed !== null && closed !== "released" && closed !== "paused";
}

/** What a hub says about a session in the offer to a recipient. */
export function sessionOffered(holder: string | undefined, recipient: string): SessionState {
  if (holder === undefined) return "begun";
  return holder === recipient ? "continued" : "lost";
}

/** What a recipient says about a session in its result, from what the hub said and what it found. */
export function sessionFound(offered: SessionState, hadConversation: boolean): SessionState {
  if (hadConversation) return "continued";
  return offered === "begun" ? "begun" : "lost";
}
