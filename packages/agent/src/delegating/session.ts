import { isSessionId, notASessionId, SESSION_WAIT_SECONDS, WaybillError } from "@waybill/protocol";
import type { Session } from "@waybill/protocol";
import type { HandoffOptions } from "./options.ts";

/** The session as it appears in the envelope. An invalid one throws here, and not only at the hub. */
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
