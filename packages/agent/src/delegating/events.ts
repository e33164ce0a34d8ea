import type { AskedQuestion, Digest, ProgressBody, SessionState } from "@waybill/protocol";

/** A recipient's report of progress: as text, as a fraction from 0 to 1, or as data. */
export interface ProgressEvent extends ProgressBody {
  /** The agent that reports. */
  readonly by: string;
  /** The attempt, counted from 1. */
  readonly attempt: number;
}

/**
 * A piece of the text that a recipient is writing. It is unsigned, may be lost, and is for display
 * only: the result has the whole text. Another `attempt` begins again.
 */
export interface DeltaEvent {
  /** The agent that writes, according to the hub. */
  readonly by: string;
  /** The attempt, counted from 1. */
  readonly attempt: number;
  /** The number of the piece within its attempt, counted from 0: a gap means that a piece was lost. */
  readonly number: number;
  readonly text: string;
}

/** A question of the recipient. Its `schema`, if present, describes a valid answer. */
export interface QuestionEvent extends AskedQuestion {
  /** The agent that asks. */
  readonly by: string;
  /** The attempt, counted from 1. */
  readonly attempt: number;
  /** True if the attempt is paused until the question is answered. */
  readonly isPaused: boolean;
}

/** A verified receipt: who signed it, for what, and the exact text. */
export interface Receipt {
  /** The agent or hub that signed it. */
  readonly by: string;
  /** The attempt that it is about; undefined for the hub's receipt. */
  readonly attempt: number | undefined;
  /** In an acceptance of a handoff with a session: what the hub knew about the session. */
  readonly session?: SessionState | undefined;
  /** Digest of the receipt itself. */
  readonly digest: Digest;
  /** The receipt as it was signed. One by the hub may confirm several envelopes of this agent. */
  readonly text: string;
}
