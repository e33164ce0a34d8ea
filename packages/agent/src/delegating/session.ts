import { isSessionId, notASessionId, SESSION_WAIT_SECONDS, WaybillError } from "@waybill/protocol";
import type { Session } from "@waybill/protocol";
import type { HandoffOptions } from "./options.ts";

/** The session as it stands in the envelope. What is none fails here, and not when the hub has read it. */
export function sessionOf(given: HandoffOptions["session"]): Session | undefined {
  if (given === undefined) return undefined;
  const { id, waitMs } = typeof given === "string" ? { id: given, waitMs: undefined } : given;
  if (!isSessionId(id)) throw notASessionId();
  if (waitMs === undefined) return { id };
  const seconds = waitMs / 1_000;
  if (!(seconds >= 0 && seconds <= SESSION_WAIT_SECONDS)) {
    throw new WaybillError(
      400,
      `A handoff can't wait ${waitMs} ms for the agent that holds its session: give a number from 0 to ${SESSION_WAIT_SECONDS * 1_000}.`,
      { at: "/session/wait_seconds" },
    );
  }
  return { id, wait_seconds: seconds };
}
