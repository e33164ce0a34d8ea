// For applications, in the order in which they need it. Authors of a store use `@waybill/hub/store`.
export { openHub } from "./open-hub.ts";
export type { HubServer } from "./open-hub.ts";
export { HUB_LIMITS } from "./engine/options.ts";
export type { HubLimits, HubLogEvent, HubOptions } from "./engine/options.ts";
export type {
  Attachment,
  AttachRequest,
  AttemptView,
  BlobContent,
  BlobPut,
  BlobRead,
  Blobs,
  BlobSigner,
  BlobUpload,
  Delivery,
  HandoffView,
  Hub,
  ManifestsQuery,
  PublishedManifest,
  PublishedPage,
  ReceivedAt,
} from "@waybill/protocol/wire";
export type { DeadLetter, DeadLetterDetail, DeadLetters } from "./dead-letters.ts";
export type { Operator } from "./operator.ts";
export type { GroupChange, NamedGroup } from "./groups/change-groups.ts";
export type { Presence, PresenceDetail } from "./registry/presence.ts";
export { systemClock } from "@waybill/protocol/wire";
export type { Clock } from "@waybill/protocol/wire";
export { ledgerHistory } from "./ledger-history.ts";

export { memoryStore } from "./memory-store.ts";
export type { Disk, MemoryStoreOptions } from "./memory-store.ts";

export type { LedgerEntry, LedgerHead, Store } from "./store.ts";

// For readers of the ledger.
export { signCheckpoint, verifyCheckpoint } from "./ledger/checkpoint.ts";
export type { Checkpoint } from "./ledger/checkpoint.ts";
export { exportLedger, ledgerEntries, readLedger } from "./ledger/export.ts";
export { LEDGER_FAULTS, verifyLedger } from "./ledger/verify.ts";
export type { LedgerFault, LedgerReport, VerifyLedgerOptions } from "./ledger/verify.ts";
