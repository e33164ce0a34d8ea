import type { Digest, HandoffState } from "@waybill/protocol";

/**
 * One handoff as a store keeps it. `record` is the engine's own JSON and a store never looks
 * inside; the other members are what a store must be able to find it by. Who delegated it, and the
 * correlation, parent and group that it belongs to, stay as they were in its first commit. Times
 * are whole milliseconds, texts are Unicode, lists of ids come back in the order of their bytes.
 */
export interface StoredHandoff {
  readonly id: string;
  /** 1 for the first commit, and one more with each. */
  readonly version: number;
  readonly record: string;
  readonly state: HandoffState;
  readonly delegator: string;
  readonly correlationId: string;
  readonly parentId: string | null;
  readonly groupId: string | null;
  /** When the clock must look at it next, in milliseconds since 1970; null when never. */
  readonly wakeAt: number | null;
  /** Whom it waits to be offered to, as the router names it; null when it is not waiting. */
  readonly waitsFor: string | null;
  /** The agents in whose inbox it stands: something of it is undelivered or unacknowledged. */
  readonly inboxes: readonly string[];
  /** True for a dead letter that nobody has replayed or discarded. */
  readonly isDeadLetter: boolean;
}

/** One line for the ledger; the store gives it its place in the order and chains it. */
export interface NewEntry {
  readonly at: number;
  /** The handoff it is about; null for what is about an agent or the hub itself. */
  readonly handoffId: string | null;
  readonly type: "envelope" | "manifest" | "decision";
  /** The signed string verbatim, or the hub's decision as JSON. */
  readonly content: string;
  readonly digest: Digest;
  /** With an envelope, who sent it under which id: the pair is unique in the ledger, for ever. */
  readonly replayKey: { readonly from: string; readonly id: string } | null;
}

export interface LedgerEntry extends NewEntry {
  /** From 1, without a gap. */
  readonly sequence: number;
  /** `chainHash(hash of the entry before, this entry)`. */
  readonly hash: Digest;
}

export interface LedgerHead {
  readonly sequence: number;
  readonly hash: Digest;
}

export interface Commit {
  /** The handoff as it is to be; its version must be exactly one more than what the store has. */
  readonly handoff: StoredHandoff | null;
  /** The first that is known of an agent may have any sequence, each later one the next. */
  readonly manifest?: StoredManifest;
  readonly entries: readonly NewEntry[];
}

export interface StoredManifest {
  readonly agent: string;
  /** One more than that of the manifest before, as the manifest itself says. */
  readonly sequence: number;
  readonly digest: Digest;
  readonly text: string;
  /** The capabilities it offers, to be found by. */
  readonly capabilities: readonly string[];
  readonly at: number;
}

export type CommitOutcome =
  | { readonly type: "committed"; readonly lastSequence: number }
  /** Somebody else wrote first. Nothing was written; read again and decide again. */
  | { readonly type: "conflict" }
  /**
   * An envelope of this sender under this id is in the ledger. Nothing was written. Looked at
   * first: a repetition is told from a race even where the version does not fit either.
   */
  | { readonly type: "replayed"; readonly digest: Digest };

/** Pages go on after the last id or sequence that the caller has seen. */
export interface Page<Cursor> {
  readonly after?: Cursor | undefined;
  readonly limit: number;
}

/**
 * The hub's durable driver. It decides nothing: the engine is the only thing that changes state.
 * A commit is all or nothing, and durable once its promise has settled; several hubs may write to
 * one store, and the version that each write names keeps them apart.
 */
export interface Store {
  /** True where all that it keeps is gone with the process. */
  readonly isVolatile?: boolean;
  /**
   * Rejects when the store can't tell any more, and then the commit may have happened or not: who
   * reads it again, from a store that works, knows.
   */
  commit(commit: Commit): Promise<CommitOutcome>;

  handoff(id: string): Promise<StoredHandoff | undefined>;
  /** Those whose `wakeAt` has come, the earliest first. */
  due(now: number, limit: number): Promise<readonly StoredHandoff[]>;
  /** The earliest `wakeAt` of all. */
  nextWakeAt(): Promise<number | null>;
  /** Those that wait for this target, by id, so that what was made first is offered first. */
  waiting(target: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  inbox(agent: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  correlated(correlationId: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  children(parentId: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  group(groupId: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  deadLetters(page: Page<string>): Promise<readonly StoredHandoff[]>;

  /** Digest of the envelope that this sender sent under this id, if the ledger has one. */
  seen(from: string, envelopeId: string): Promise<Digest | undefined>;
  ledger(page: Page<number>): Promise<readonly LedgerEntry[]>;
  ledgerOf(handoffId: string, page: Page<number>): Promise<readonly LedgerEntry[]>;
  ledgerHead(): Promise<LedgerHead>;

  /** The newest manifest of an agent. */
  manifest(agent: string): Promise<StoredManifest | undefined>;
  /** Every manifest of an agent, by sequence: old entries are checked with old keys. */
  manifests(agent: string): Promise<readonly StoredManifest[]>;
  agents(page: Page<string>): Promise<readonly StoredManifest[]>;
  /** The newest manifests that offer a capability. */
  offering(capability: string, page: Page<string>): Promise<readonly StoredManifest[]>;

  /** Small values of the hub itself (its key, the signed checkpoint), written whole. */
  setting(name: string): Promise<string | undefined>;
  saveSetting(name: string, value: string): Promise<void>;

  /** Calls the listener after any hub's commit, which reads show by then; returns what ends it. */
  onCommit(listener: (handoff: StoredHandoff | null) => void): () => void;
  /** Settles after the commits that are under way. Every later call rejects. */
  close(): Promise<void>;
}
