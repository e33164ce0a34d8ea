import type { AskedQuestion, Digest, ProgressBody } from "@waybill/protocol";

export interface ProgressEvent extends ProgressBody {
  readonly by: string;
  readonly attempt: number;
}

export interface QuestionEvent extends AskedQuestion {
  readonly by: string;
  readonly attempt: number;
  /** True where the recipient has stopped until it is answered. */
  readonly isPaused: boolean;
}

/** A receipt that was checked: who signed it, for what, and the exact text. */
export interface Receipt {
  readonly by: string;
  readonly attempt: number | undefined;
  readonly digest: Digest;
  readonly text: string;
}
