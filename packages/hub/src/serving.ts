// For whoever serves a hub on a network, as `@waybill/server` does: what its requests are answered with.
export type { Viewer } from "./access/access.ts";
export type { HubIdentity } from "./registry/identity.ts";
export type { Search } from "./routing/capability-search.ts";
export type { TextPage } from "./store.ts";
export {
  ledgerLinePieces,
  ledgerPages,
  LINE_PIECE_CHARACTERS,
  writeEntry,
} from "./ledger/export.ts";
export { EntryPages, PAGE_CHARACTERS } from "./page.ts";
export { charactersOf } from "./routing/delivery-size.ts";

export { inConcurrencySlot, leaveConcurrencySlot } from "./concurrency-slot.ts";
export { FairQueue } from "./fair-queue.ts";
