import { digestOf, isSessionId } from "@waybill/protocol";
import type { HandoffOptions } from "../delegating/options.ts";

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
