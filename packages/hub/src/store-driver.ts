// What the author of a store needs: the interface that it implements, and helpers for its rows.
export type {
  Commit,
  CommitListener,
  CommitOutcome,
  KnownOutcome,
  LedgerEntry,
  LedgerHead,
  ManifestCard,
  NewCapability,
  NewEntry,
  NewKey,
  NewManifest,
  SeenEnvelope,
  OfferedName,
  OfferPlace,
  Page,
  KeyChange,
  SettingChange,
  Store,
  StoredHandoff,
  StoredKey,
  StoredManifest,
  StoredOffer,
  StoredSetting,
  TextPage,
  WaitingPlace,
} from "./store.ts";
export type { BlobSpace, BlobStore, BlobWriter } from "./blobs/blob-store.ts";
export { commitEach, commitOne } from "./commit-each.ts";
export { rowsOfManifests } from "./registry/rows.ts";
export { chainHash, EMPTY_LEDGER } from "./ledger/chain.ts";
