import { SESSION_STATES } from "../session.ts";
import type { SessionState } from "../session.ts";
import { isStatusCode } from "../status.ts";
import type { StatusCode } from "../status.ts";
import {
  countAt,
  flagAt,
  malformed,
  membersOf,
  optionalTextAt,
  textAt,
  textsAt,
  timesAt,
} from "./members.ts";

/**
 * When the hub took each of these envelopes in, by digest. A key that was good then may be retired when
 * the envelope arrives.
 */
export type ReceivedAt = Readonly<Record<string, string>>;

/** What a hub sends to an agent, as JSON. Everything may come more than once. */
export type Delivery =
  | {
      readonly type: "offer";
      readonly id: string;
      readonly handoff_id: string;
      readonly attempt: number;
      readonly envelope: string;
      readonly remaining_ms: number;
      readonly lease_ms: number;
      /** True for an attempt that this agent has accepted before: a new process knows nothing of it. */
      readonly is_accepted: boolean;
      /** The question that an earlier attempt paused with; it holds the state to go on from. */
      readonly resume?: string | undefined;
      /** All answers that the delegator has given so far. */
      readonly answers: readonly string[];
      readonly received_at: ReceivedAt;
      /** Where the handoff names a session: what the hub knows of it. */
      readonly session?: SessionState | undefined;
    }
  | {
      readonly type: "envelope";
      readonly id: string;
      readonly handoff_id: string;
      readonly envelope: string;
      readonly received_at: ReceivedAt;
    }
  /** The attempt is closed: the work is to stop. */
  | {
      readonly type: "stop";
      readonly handoff_id: string;
      readonly attempt: number;
      readonly status: StatusCode;
      readonly reason: string;
    };

/** Reads a delivery from JSON; `at` is where it stands in its message. */
export function readDelivery(value: unknown, at = ""): Delivery {
  const members = membersOf(value, at);
  const read = READERS[members["type"] as Delivery["type"]];
  if (typeof members["type"] !== "string" || !Object.hasOwn(READERS, members["type"])) {
    throw malformed(`${at}/type`, `must be one of ${Object.keys(READERS).join(", ")}`);
  }
  return read(members, at);
}

type Reader = (members: ReturnType<typeof membersOf>, at: string) => Delivery;

const READERS: Readonly<Record<Delivery["type"], Reader>> = {
  offer(members, at) {
    const resume = optionalTextAt(members, "resume", at);
    const session = sessionAt(members, at);
    return {
      type: "offer",
      id: textAt(members, "id", at),
      handoff_id: textAt(members, "handoff_id", at),
      attempt: countAt(members, "attempt", at, 1),
      envelope: textAt(members, "envelope", at),
      remaining_ms: countAt(members, "remaining_ms", at),
      lease_ms: countAt(members, "lease_ms", at),
      is_accepted: flagAt(members, "is_accepted", at),
      ...(resume === undefined ? {} : { resume }),
      answers: textsAt(members, "answers", at),
      received_at: timesAt(members, "received_at", at),
      ...(session === undefined ? {} : { session }),
    };
  },
  envelope: (members, at) => ({
    type: "envelope",
    id: textAt(members, "id", at),
    handoff_id: textAt(members, "handoff_id", at),
    envelope: textAt(members, "envelope", at),
    received_at: timesAt(members, "received_at", at),
  }),
  stop(members, at) {
    const status = members["status"];
    if (!isStatusCode(status)) throw malformed(`${at}/status`, "must be a known status code");
    return {
      type: "stop",
      handoff_id: textAt(members, "handoff_id", at),
      attempt: countAt(members, "attempt", at, 1),
      status,
      reason: textAt(members, "reason", at),
    };
  },
};

function sessionAt(members: ReturnType<typeof membersOf>, at: string): SessionState | undefined {
  const said = optionalTextAt(members, "session", at);
  const state = SESSION_STATES.find((each) => each === said);
  if (state === undefined && said !== undefined) {
    throw malformed(`${at}/session`, `must be one of ${SESSION_STATES.join(", ")}`);
  }
  return state;
}
