import { digestOf } from "./signing/digest.ts";
import { WaybillError } from "./error.ts";

/** The conversation that a handoff belongs to: handoffs of one principal with the same session share it. */
export interface Session {
  /** Chosen by the delegator: 1 to 128 visible ASCII characters. */
  id: string;
  /**
   * How long the hub may hold the handoff back for the agent that holds the session. With 0, the
   * default, the hub prefers that agent and does not wait for it.
   */
  wait_seconds?: number | undefined;
}

/** Visible ASCII without a space: it is used unescaped in logs, URLs and database keys. */
export const SESSION_ID: RegExp = /^[!-~]{1,128}$/;

/** The longest time that a hub may be asked to wait for the holder of a session. */
export const SESSION_WAIT_SECONDS = 86_400;

/**
 * The state of a handoff's conversation. `begun`: it is new. `continued`: it goes on where it was.
 * `lost`: it existed, is not here, and begins again.
 */
export type SessionState = "begun" | "continued" | "lost";

/** The words for the state of a conversation. */
export const SESSION_STATES: readonly SessionState[] = ["begun", "continued", "lost"];

/** Whether a value can be the id of a session. */
export function isSessionId(value: unknown): value is string {
  return typeof value === "string" && SESSION_ID.test(value);
}

/**
 * The key under which a recipient stores the conversation of a session: 64 hexadecimal digits. It is
 * derived from the principal as well, so that guessing another's session id gives no access. The
 * principal is the delegator, or somebody for whom it acts: see `principalOf`.
 *
 * @example
 * ```ts
 * const key = sessionKey("editor", "trip-42");
 * ```
 */
export function sessionKey(principal: string, id: string): string {
  if (!isSessionId(id)) throw notASessionId();
  return digestOf(`waybill session 1\n${principal}\n${id}`).slice("sha256:".length);
}

/** The error for an invalid session id. */
export function notASessionId(): WaybillError {
  return new WaybillError(
    400,
    "A session id must have 1 to 128 visible ASCII characters without spaces; use another id, or a hash of it.",
    { at: "/session/id" },
  );
}
