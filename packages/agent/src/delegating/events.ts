import type { AskedQuestion, Digest, ProgressBody, SessionState } from "@waybill/protocol";

/** What a recipient says on its way: in words, as a share from 0 to 1, or as data. */
export interface ProgressEvent extends ProgressBody {
  /** The agent that says so. */
  readonly by: string;
  /** In which attempt, counted from 1. */
  readonly attempt: number;
}

/**
 * A piece of what a recipient is writing. It is unsigned, may be lost, and is for showing alone: the
 * result has the whole. Another `attempt` begins from nothing.
 */
export interface DeltaEvent {
  /** The agent that writes, as the hub has it. */
  readonly by: string;
  /** In which attempt, counted from 1. */
  readonly attempt: number;
  /** Counts the pieces of an attempt from 0: a number that is left out was lost. */
  readonly number: number;
  readonly text: string;
}

/** What a recipient asks. Its `schema`, where there is one, says what an answer has to look like. */
export interface QuestionEvent extends AskedQuestion {
  /** The agent that says so. */
  readonly by: string;
  /** In which attempt, counted from 1. */
  readonly attempt: number;
  /** True where the recipient has stopped until it is answered. */
  readonly isPaused: boolean;
}

/** A receipt that was checked: who signed it, for what, and the exact text. */
export interface Receipt {
  /** The agent that says so. */
  readonly by: string;
  /** The attempt that it is about; undefined for the hub's receipt. */
  readonly attempt: number | undefined;
  /** Of an acceptance, where the handoff names a session: what the hub knew of it. */
  readonly session?: SessionState | undefined;
  /** Digest of the receipt itself. */
  readonly digest: Digest;
  /** The receipt as it was signed. */
  readonly text: string;
}
