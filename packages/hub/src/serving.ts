// For whoever serves a hub on a network, as `@waybill/server` does: what its requests are answered with.
export type { Viewer } from "./access/access.ts";
export type { HubIdentity } from "./registry/identity.ts";
export type { Search } from "./routing/capability-search.ts";
export type { TextPage } from "./store.ts";
export { ledgerLinePieces, LINE_PIECE_CHARACTERS, writeEntry } from "./ledger/export.ts";
export { entriesOf, nextEntry, PAGE_CHARACTERS } from "./page.ts";
export { charactersOf } from "./routing/delivery-size.ts";

export { ConcurrencyLimit } from "./concurrency-limit.ts";
export { inConcurrencySlot, leaveConcurrencySlot } from "./concurrency-slot.ts";
export { FairQueue } from "./fair-queue.ts";
