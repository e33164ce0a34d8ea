import type { AttemptState, CloseReason, HandoffState } from "../lifecycle/transitions.ts";
import type { SessionState } from "../session.ts";
import type { StatusCode } from "../status.ts";
import { formatTime, parseTime } from "../time.ts";
import type { ReceivedAt } from "./delivery.ts";
import { writeTimes } from "./members.ts";
import { checked } from "./checked.ts";
import { shapes } from "./shapes.ts";

/** One attempt, as a party of its handoff may know it. */
export interface AttemptView {
  readonly number: number;
  readonly recipient: string;
  readonly state: AttemptState;
  readonly closed: CloseReason | null;
  readonly status: StatusCode;
}

/**
 * Why an agent that offers a capability has not been handed what waits for it. `input`: its schema
 * refuses the input. `terms`: it is not what is wanted. `rejected`: it has said no. `busy`: it has no
 * room. `away`: it is not connected. `session`: it comes after the holder of the session. `next`: nothing
 * is in the way.
 */
export type WaitReason = "input" | "terms" | "rejected" | "busy" | "away" | "session" | "next";

/** One of those for whom a handoff waits, and what is in the way. */
export interface WaitsFor {
  readonly agent_id: string;
  readonly why: WaitReason;
  /** What is said of the agent: "is not connected". */
  readonly reason: string;
}

/** What a party of a handoff may know of it. Envelopes are as they were signed. */
export interface HandoffView {
  readonly id: string;
  readonly state: HandoffState;
  readonly status: StatusCode;
  readonly deadline: number;
  readonly attempts: readonly AttemptView[];
  readonly isAcknowledged: boolean;
  readonly envelope: string;
  /** The last acceptance. */
  readonly acceptance?: string;
  /** Questions that wait for an answer. */
  readonly questions: readonly string[];
  /** The envelope that ended it, or the hub's notice where none did. */
  readonly ending?: string;
  readonly receivedAt: ReceivedAt;
  /** Where it names a session, once it was offered: what the hub knew of the session then. */
  readonly session?: SessionState;
  /** Only before it may be offered for the first time: from when on it may be. */
  readonly startsAt?: number;
  /** Only while it waits to be offered: for whom, the most telling first. */
  readonly waitsFor?: readonly WaitsFor[];
}

/** A view as it goes over the wire. */
export interface WireHandoffView {
  readonly id: string;
  readonly state: HandoffState;
  readonly status: StatusCode;
  readonly deadline: string;
  readonly attempts: readonly AttemptView[];
  readonly is_acknowledged: boolean;
  readonly envelope: string;
  readonly acceptance?: string | undefined;
  readonly questions: readonly string[];
  readonly ending?: string | undefined;
  readonly received_at: Readonly<Record<string, string>>;
  readonly session?: SessionState | undefined;
  readonly starts_at?: string | undefined;
  readonly waits_for?: readonly WaitsFor[] | undefined;
}

/** The view of a handoff as JSON. */
export function writeHandoffView(view: HandoffView): WireHandoffView {
  const { id, state, status, attempts, envelope, acceptance, questions, ending } = view;
  return {
    id,
    state,
    status,
    deadline: formatTime(view.deadline),
    attempts,
    is_acknowledged: view.isAcknowledged,
    envelope,
    acceptance,
    questions,
    ending,
    received_at: writeTimes(view.receivedAt),
    session: view.session,
    starts_at: view.startsAt === undefined ? undefined : formatTime(view.startsAt),
    waits_for: view.waitsFor,
  };
}

/** Reads the view of a handoff from JSON; what is malformed is a 400. */
export function readHandoffView(value: unknown): HandoffView {
  const view = checked(shapes().handoffView, value, "The view of a handoff");
  const { id, state, status, attempts, envelope, acceptance, questions, ending } = view;
  const { starts_at: startsAt, waits_for: waitsFor, session } = view;
  const receivedAt = Object.entries(view.received_at).map(([key, at]) => [key, parseTime(at)!]);
  return {
    id,
    state,
    status,
    deadline: parseTime(view.deadline)!,
    attempts,
    isAcknowledged: view.is_acknowledged,
    envelope,
    ...(acceptance === undefined ? {} : { acceptance }),
    questions,
    ...(ending === undefined ? {} : { ending }),
    receivedAt: Object.fromEntries(receivedAt) as ReceivedAt,
    ...(session === undefined ? {} : { session }),
    ...(startsAt === undefined ? {} : { startsAt: parseTime(startsAt)! }),
    ...(waitsFor === undefined ? {} : { waitsFor }),
  };
}
