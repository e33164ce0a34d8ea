import type { WaitsFor } from "@waybill/protocol/wire";
import type { HandoffState, StatusCode, UsageRow, SessionState } from "@waybill/protocol";
import type { Breach } from "@waybill/protocol/audit";

/** The result of checking a signature. */
export type Signature =
  | { readonly holds: true; readonly kid: string }
  | { readonly holds: false; readonly why: string };

/** How an event is shown: as success, failure, warning, or progress. */
export type Tone = "good" | "bad" | "warning" | "step";

/** One event of a handoff. */
export interface TraceEvent {
  readonly sequence: number;
  readonly at: number;
  readonly type: string;
  readonly by: string;
  readonly attempt: number | undefined;
  readonly status: StatusCode | undefined;
  /** What `by` did, for people. May contain foreign text. */
  readonly says: string;
  readonly tone: Tone;
  /** Undefined for the hub's own notes: its checkpoints sign those. */
  readonly signature: Signature | undefined;
  /** The hub's signed receipt for it. */
  readonly receipt: Signature | undefined;
}

/** The session of a handoff. */
export interface TracedSession {
  readonly id: string;
  readonly state: SessionState | undefined;
}

export interface TraceHandoff {
  readonly id: string;
  readonly capability: string;
  readonly delegator: string;
  /** For whom its delegator acts. */
  readonly onBehalfOf: string | undefined;
  /** The last agent that took it, or else its addressee. */
  readonly recipient: string | undefined;
  readonly state: HandoffState;
  readonly status: StatusCode;
  readonly attempts: number;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly deadline: number;
  readonly replayOf: string | undefined;
  /** Until when the hub holds it. */
  readonly startsAt: number | undefined;
  /** For whom it waits and why, with the most relevant first. */
  readonly waitsFor: readonly WaitsFor[];
  /** The conversation that it belongs to, and its state as far as it was reported. */
  readonly session: TracedSession | undefined;
  /** The usage of its attempts as reported by their recipients, without children. */
  readonly usage: readonly UsageRow[];
  /** Caps of its contract that were exceeded. */
  readonly breaches: readonly Breach[];
  readonly events: readonly TraceEvent[];
  /** Its children and replays, by their start. */
  readonly children: readonly TraceHandoff[];
}

/** The full trace of a job. */
export interface Trace {
  readonly correlationId: string;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly handoffs: readonly TraceHandoff[];
  /** Handoffs with the same correlation id, from agents that take no part in the job. */
  readonly apart: readonly TraceHandoff[];
  /** The number of handoffs of the job, including children and replays. */
  readonly count: number;
  /** The usage of all handoffs of the job. */
  readonly usage: readonly UsageRow[];
  readonly signatures: { readonly held: number; readonly failed: number };
}
