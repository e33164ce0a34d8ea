import type { Digest, StatusCode } from "@waybill/protocol";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";

/** How a change of a handoff ended. */
export type Committed =
  | {
      readonly type: "changed";
      /** For whoever has asked for the change. */
      readonly status: StatusCode;
      readonly transaction: HandoffTransaction;
    }
  /** Another envelope with the same id is in the ledger. */
  | { readonly type: "replayed"; readonly digest: Digest };
