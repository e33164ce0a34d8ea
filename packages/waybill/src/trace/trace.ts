import type { WaitsFor } from "@waybill/protocol/wire";
import type { HandoffState, StatusCode, UsageRow, SessionState } from "@waybill/protocol";
import type { Breach } from "@waybill/protocol/audit";

/** Whether something was really signed by who it is from. */
export type Signature =
  | { readonly holds: true; readonly kid: string }
  | { readonly holds: false; readonly why: string };

/** Good news, bad news, or a step on the way. */
export type Tone = "good" | "bad" | "warning" | "step";

/** One thing that happened to a handoff. */
export interface TraceEvent {
  readonly sequence: number;
  readonly at: number;
  readonly type: string;
  readonly by: string;
  readonly attempt: number | undefined;
  readonly status: StatusCode | undefined;
  /** What `by` did, for a person. May hold text of strangers. */
  readonly says: string;
  readonly tone: Tone;
  /** Left out for what the hub noted: its checkpoints sign for that. */
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
  /** Who took it last, or whom it was addressed to. */
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
  /** For whom it waits, and what is in the way; the most telling first. */
  readonly waitsFor: readonly WaitsFor[];
  /** The conversation that it belongs to, and what became of that, as far as somebody has said so. */
  readonly session: TracedSession | undefined;
  /** What its attempts have used themselves, by their recipients' word, without children. */
  readonly usage: readonly UsageRow[];
  /** Caps of its contract that were not held to. */
  readonly breaches: readonly Breach[];
  readonly events: readonly TraceEvent[];
  /** Parts of it, and replays of it, by when they began. */
  readonly children: readonly TraceHandoff[];
}

/** The whole story of a job. */
export interface Trace {
  readonly correlationId: string;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly handoffs: readonly TraceHandoff[];
  /** Under the same correlation id, from agents that take part in nothing of the job. */
  readonly apart: readonly TraceHandoff[];
  /** Of the job, parts and replays among them. */
  readonly count: number;
  /** What all handoffs of the job have used. */
  readonly usage: readonly UsageRow[];
  readonly signatures: { readonly held: number; readonly failed: number };
}
