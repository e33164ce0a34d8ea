import type { Digest, HandoffEnvelope } from "@waybill/protocol";

/** What a delegator has on its own disk about one handoff. */
export interface HandoffNote {
  readonly text: string;
  readonly digest: Digest;
  readonly envelope: HandoffEnvelope;
  hasReceipt: boolean;
  /** The end that its framework has committed. */
  ending: Digest | undefined;
  isAcknowledged: boolean;
}
