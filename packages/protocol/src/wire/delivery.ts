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
  writeTimes,
} from "./members.ts";

/**
 * When the hub took each of these envelopes in, by digest, in milliseconds since 1970. A key that was
 * good then may be retired when its word arrives.
 */
export type ReceivedAt = Readonly<Record<string, number>>;

/** What a hub sends to an agent. Everything may come more than once. */
export type Delivery =
  | {
      readonly type: "offer";
      readonly id: string;
      readonly handoffId: string;
      readonly attempt: number;
      readonly envelope: string;
      readonly remainingMs: number;
      readonly leaseMs: number;
      /** True for an attempt that this agent has accepted before: a new process knows nothing of it. */
      readonly isAccepted: boolean;
      /** The question that an earlier attempt paused with; it holds the state to go on from. */
      readonly resume?: string;
      /** All answers that the delegator has given so far. */
      readonly answers: readonly string[];
      readonly receivedAt: ReceivedAt;
      /** Where the handoff names a session: what the hub knows of it. */
      readonly session?: SessionState;
    }
  | {
      readonly type: "envelope";
      readonly id: string;
      readonly handoffId: string;
      readonly envelope: string;
      readonly receivedAt: ReceivedAt;
    }
  /** The attempt is closed: the work is to stop. */
  | {
      readonly type: "stop";
      readonly handoffId: string;
      readonly attempt: number;
      readonly status: StatusCode;
      readonly reason: string;
    };

/** A delivery as it goes over the wire. */
export type WireDelivery =
  | {
      readonly type: "offer";
      readonly id: string;
      readonly handoff_id: string;
      readonly attempt: number;
      readonly envelope: string;
      readonly remaining_ms: number;
      readonly lease_ms: number;
      readonly is_accepted: boolean;
      readonly resume?: string | undefined;
      readonly answers: readonly string[];
      readonly received_at: Readonly<Record<string, string>>;
      readonly session?: SessionState | undefined;
    }
  | {
      readonly type: "envelope";
      readonly id: string;
      readonly handoff_id: string;
      readonly envelope: string;
      readonly received_at: Readonly<Record<string, string>>;
    }
  | {
      readonly type: "stop";
      readonly handoff_id: string;
      readonly attempt: number;
      readonly status: number;
      readonly reason: string;
    };

/** A delivery as JSON. */
export function writeDelivery(delivery: Delivery): WireDelivery {
  if (delivery.type === "offer") {
    const { type, id, handoffId, attempt, envelope, remainingMs, leaseMs } = delivery;
    return {
      type,
      id,
      handoff_id: handoffId,
      attempt,
      envelope,
      remaining_ms: Math.max(0, Math.floor(remainingMs)),
      lease_ms: Math.floor(leaseMs),
      is_accepted: delivery.isAccepted,
      resume: delivery.resume,
      answers: delivery.answers,
      received_at: writeTimes(delivery.receivedAt),
      session: delivery.session,
    };
  }
  if (delivery.type === "envelope") {
    const { type, id, handoffId, envelope, receivedAt } = delivery;
    return { type, id, handoff_id: handoffId, envelope, received_at: writeTimes(receivedAt) };
  }
  const { type, handoffId, attempt, status, reason } = delivery;
  return { type, handoff_id: handoffId, attempt, status, reason };
}

/** Reads what `writeDelivery` wrote; `at` is where it stands in its message. */
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
      handoffId: textAt(members, "handoff_id", at),
      attempt: countAt(members, "attempt", at, 1),
      envelope: textAt(members, "envelope", at),
      remainingMs: countAt(members, "remaining_ms", at),
      leaseMs: countAt(members, "lease_ms", at),
      isAccepted: flagAt(members, "is_accepted", at),
      ...(resume === undefined ? {} : { resume }),
      answers: textsAt(members, "answers", at),
      receivedAt: timesAt(members, "received_at", at),
      ...(session === undefined ? {} : { session }),
    };
  },
  envelope: (members, at) => ({
    type: "envelope",
    id: textAt(members, "id", at),
    handoffId: textAt(members, "handoff_id", at),
    envelope: textAt(members, "envelope", at),
    receivedAt: timesAt(members, "received_at", at),
  }),
  stop(members, at) {
    const status = members["status"];
    if (!isStatusCode(status)) throw malformed(`${at}/status`, "must be a known status code");
    return {
      type: "stop",
      handoffId: textAt(members, "handoff_id", at),
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
