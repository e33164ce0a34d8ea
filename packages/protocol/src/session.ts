import { digestOf } from "./signing/digest.ts";
import { WaybillError } from "./error.ts";

/** The conversation that a handoff belongs to: handoffs of one delegator that name the same one share it. */
export interface Session {
  /** Chosen by the delegator: 1 to 128 visible ASCII characters. */
  id: string;
  /**
   * How long the hub may hold the handoff back for the agent that holds the session. Left out or 0,
   * the hub prefers that agent and does not wait for it.
   */
  wait_seconds?: number | undefined;
}

/** Visible ASCII without a space: it goes into logs, URLs and keys of databases as it is. */
export const SESSION_ID: RegExp = /^[!-~]{1,128}$/;

/** The longest that a hub may be asked to wait for the holder of a session. */
export const SESSION_WAIT_SECONDS = 86_400;

/**
 * What became of the conversation of a handoff. `begun`: there was none before. `continued`: it goes on
 * where it was. `lost`: there was one, and it is not here, so it begins anew.
 */
export type SessionState = "begun" | "continued" | "lost";

/** The words for what became of a conversation. */
export const SESSION_STATES: readonly SessionState[] = ["begun", "continued", "lost"];

/** Whether a value can be the id of a session. */
export function isSessionId(value: unknown): value is string {
  return typeof value === "string" && SESSION_ID.test(value);
}

/**
 * The key under which a recipient keeps what it keeps for a session: 64 hexadecimal digits. It is made
 * from the delegator as well, so that an id that somebody else guesses opens nothing.
 *
 * @example
 * ```ts
 * const key = sessionKey("editor", "trip-42");
 * ```
 */
export function sessionKey(delegator: string, id: string): string {
  if (!isSessionId(id)) throw notASessionId();
  return digestOf(`waybill session 1\n${delegator}\n${id}`).slice("sha256:".length);
}

/** The error of a session id that is none. */
export function notASessionId(): WaybillError {
  return new WaybillError(
    400,
    "A session id must have 1 to 128 visible ASCII characters without spaces; use another id, or a hash of it.",
    { at: "/session/id" },
  );
}
