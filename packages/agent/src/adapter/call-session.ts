import { digestOf, isSessionId } from "@waybill/protocol";
import type { Message } from "@waybill/protocol";
import type { HandoffOptions } from "../delegating/options.ts";
import { currentWork } from "./current-work.ts";

/**
 * The session in which a framework's step hands off. `true` uses the framework's own conversation,
 * such as a thread, where the run has one. By default there is none, so nothing is shared without
 * being asked for.
 */
export type CallSession = HandoffOptions["session"] | true;

/** The session of a handoff, from the option and the framework's own name for its conversation. */
export function sessionFor(
  asked: CallSession,
  conversation: string | undefined,
): HandoffOptions["session"] {
  if (asked !== true) return asked;
  if (conversation === undefined || isSessionId(conversation)) return conversation;
  // Too long or with spaces: the hash of the name identifies the same conversation.
  return digestOf(conversation).slice("sha256:".length);
}

/**
 * The name of a run's conversation. Inside a served handoff it is that handoff's session, or the
 * handoff's id; elsewhere it is the framework's own name.
 */
export function conversationHere(own: string | undefined): string | undefined {
  const work = currentWork();
  return work === undefined ? own : (work.session?.key ?? work.handoffId);
}

/**
 * What a team member is sent in a session: everything since its last turn, because it has the rest.
 * Without a session, and before its first turn, it is sent the whole conversation.
 */
export function saidSince(
  session: CallSession,
  messages: readonly Message[],
  name: string,
): Message[] {
  const spoke = messages.findLastIndex((each) => each.role === "assistant" && each.name === name);
  const since = messages.slice(spoke + 1);
  return session === undefined || since.length === 0 ? [...messages] : since;
}
