import type { SessionState } from "../session.ts";
import { liveAttempt } from "./attempt.ts";
import type { Attempt, Handoff } from "./handoff.ts";

/** After so many failures of its own in a handoff, the holder of the session is one candidate among others. */
const FAILURES_OF_HOLDER = 2;

/** The agent to which one handoff has brought its session; undefined where it is with nobody. */
export function holderBy(state: Handoff): string | undefined {
  if (state.state === "completed") return state.attempts.at(-1)?.recipient;
  if (state.state !== "open") return undefined;
  const live = liveAttempt(state);
  if (live !== undefined) return live.state === "offered" ? undefined : live.recipient;
  return state.resumes?.recipient;
}

/** Whether the holder of its session comes first among those whom a handoff can be offered to. */
export function isHolderFirst({ attempts }: Pick<Handoff, "attempts">, holder: string): boolean {
  const failures = attempts.filter((each) => each.recipient === holder && isFailed(each));
  return failures.length < FAILURES_OF_HOLDER;
}

/** A release and a pause are no failures. */
function isFailed({ closed }: Attempt): boolean {
  return closed !== null && closed !== "released" && closed !== "paused";
}

/** What a hub says of a session in the offer to a recipient. */
export function sessionOffered(holder: string | undefined, recipient: string): SessionState {
  if (holder === undefined) return "begun";
  return holder === recipient ? "continued" : "lost";
}

/** What a recipient says of a session in its result, by what the hub has said and what it has found. */
export function sessionFound(offered: SessionState, hadConversation: boolean): SessionState {
  if (hadConversation) return "continued";
  return offered === "begun" ? "begun" : "lost";
}
