import { digestOf, isSessionId } from "@waybill/protocol";
import type { Message } from "@waybill/protocol";
import type { HandoffOptions } from "../delegating/options.ts";
import { currentWork } from "./current-work.ts";

/**
 * Which session a framework's step hands off in. `true`: that of the framework's own conversation, such as
 * a thread, where the run has one. Left out: none, so that nothing is shared that was not asked for.
 */
export type CallSession = HandoffOptions["session"] | true;

/** The session for a handoff, by what was asked for and what the framework calls its conversation. */
export function sessionFor(
  asked: CallSession,
  conversation: string | undefined,
): HandoffOptions["session"] {
  if (asked !== true) return asked;
  if (conversation === undefined || isSessionId(conversation)) return conversation;
  // Too long, or with spaces: its hash names the same.
  return digestOf(conversation).slice("sha256:".length);
}

/**
 * What the conversation of a run is called: in the course of a handoff that is served, that handoff's
 * session, or the handoff itself; elsewhere what the framework calls it.
 */
export function conversationHere(own: string | undefined): string | undefined {
  const work = currentWork();
  return work === undefined ? own : (work.session?.key ?? work.handoffId);
}

/**
 * What a member of a team is told in a session: all that was said since it spoke last, because it has what
 * was said before. Without a session, and before it has spoken, it is told all.
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
