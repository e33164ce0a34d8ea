import type { HandoffState } from "../lifecycle/transitions.ts";
import type { SessionState } from "../session.ts";
import type { StatusCode } from "../status.ts";
import { formatTime, parseTime } from "../time.ts";
import type { ReceivedAt } from "./delivery.ts";
import { checked } from "./checked.ts";
import { shapes } from "./shapes.ts";
import type { AttemptView, WaitsFor, WireHandoffView } from "./wire-view.ts";

/** What a party of a handoff may know about it. Envelopes are as they were signed. */
export interface HandoffView {
  readonly id: string;
  readonly state: HandoffState;
  readonly status: StatusCode;
  readonly deadline: number;
  readonly attempts: readonly AttemptView[];
  readonly isAcknowledged: boolean;
  /** The person or system for whom its delegator acts, if not for itself. */
  readonly onBehalfOf?: string;
  readonly envelope: string;
  /** The last acceptance. */
  readonly acceptance?: string;
  /** Questions that wait for an answer. */
  readonly questions: readonly string[];
  /** The envelope that ended it, or the hub's notice if none did. */
  readonly ending?: string;
  readonly receivedAt: ReceivedAt;
  /** If it names a session, and was offered: what the hub knew about the session then. */
  readonly session?: SessionState;
  /** Only before its start: the time from which on it may be offered. */
  readonly startsAt?: number;
  /** Only while it waits to be offered: for which agents, the most relevant first. */
  readonly waitsFor?: readonly WaitsFor[];
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
    on_behalf_of: view.onBehalfOf,
    envelope,
    acceptance,
    questions,
    ending,
    received_at: view.receivedAt,
    session: view.session,
    starts_at: view.startsAt === undefined ? undefined : formatTime(view.startsAt),
    waits_for: view.waitsFor,
  };
}

/** Reads the view of a handoff from JSON; throws a 400 if it is malformed. */
export function readHandoffView(value: unknown): HandoffView {
  const view = checked(shapes().handoffView, value, "The view of a handoff");
  const { id, state, status, attempts, envelope, acceptance, questions, ending } = view;
  const { starts_at: startsAt, waits_for: waitsFor, session, on_behalf_of: onBehalfOf } = view;
  return {
    id,
    state,
    status,
    deadline: parseTime(view.deadline)!,
    attempts,
    isAcknowledged: view.is_acknowledged,
    ...(onBehalfOf === undefined ? {} : { onBehalfOf }),
    envelope,
    ...(acceptance === undefined ? {} : { acceptance }),
    questions,
    ...(ending === undefined ? {} : { ending }),
    receivedAt: view.received_at,
    ...(session === undefined ? {} : { session }),
    ...(startsAt === undefined ? {} : { startsAt: parseTime(startsAt)! }),
    ...(waitsFor === undefined ? {} : { waitsFor }),
  };
}
