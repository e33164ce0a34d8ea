import type { Digest, HandoffState } from "@waybill/protocol";
import type { BlobStore } from "./blobs/blob-store.ts";

/**
 * One handoff as a store keeps it. `record` is the engine's own JSON, which a store never reads; the
 * other members are those by which a store must be able to find it. Its delegator, correlation, parent
 * and group never change after its first commit. Times are whole milliseconds, texts are Unicode,
 * lists of ids are returned in byte order.
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
  /** When it is due next, in milliseconds since 1970; null when never. */
  readonly wakeAt: number | null;
  /** The target to which it waits to be offered, as the router names it; null when it is not waiting. */
  readonly waitsFor: string | null;
  /** Its place among those that wait for the same target; 0 if it is not waiting. */
  readonly waitsAt: number;
  /** The session whose holder it determines, as the engine names it; null without a session or a holder. */
  readonly session: string | null;
  /** When its session came to that holder; 0 if it has none. */
  readonly sessionAt: number;
  /** The agents in whose inbox it is: something of it is undelivered or unacknowledged. */
  readonly inboxes: readonly string[];
  /** True for a dead letter that nobody has replayed or discarded. */
  readonly isDeadLetter: boolean;
}

/** The place of a handoff among those that wait for one target. */
export type WaitingPlace = Pick<StoredHandoff, "waitsAt" | "id">;

/** One entry for the ledger; the store numbers and chains it. */
export interface NewEntry {
  readonly at: number;
  /** The handoff it is about; null for an agent or the hub itself. */
  readonly handoffId: string | null;
  readonly type: "envelope" | "manifest" | "decision";
  /** The signed string verbatim, or the hub's decision as JSON. */
  readonly content: string;
  readonly digest: Digest;
  /** With an envelope, its sender and its id: the pair is unique in the ledger, forever. */
  readonly replayKey: { readonly from: string; readonly id: string } | null;
}

/** An entry of the ledger, with its place in the chain. */
export interface LedgerEntry extends NewEntry {
  /** From 1, without gaps. */
  readonly sequence: number;
  /** `chainHash(hash of the entry before, this entry)`. */
  readonly hash: Digest;
}

/** Where the ledger has an envelope. */
export interface SeenEnvelope {
  readonly digest: Digest;
  readonly sequence: number;
}

/** The last entry of a ledger: its place, and the hash of the chain up to it. */
export interface LedgerHead {
  readonly sequence: number;
  readonly hash: Digest;
}

/** One setting that a commit changes, if it still has the expected value. */
export interface SettingChange {
  readonly name: string;
  /** The expected value; null if there must be none. */
  readonly from: string | null;
  /** The new value; null removes the setting. */
  readonly to: string | null;
}

/** A small value of a hub, by its name. */
export interface StoredSetting {
  readonly name: string;
  readonly value: string;
}

/** How the keys of an agent change without a manifest: by an operator. */
export interface KeyChange {
  readonly agent: string;
  /** Of the agent's newest manifest: if that is another one, the commit is a conflict. */
  readonly sequence: number;
  /** The facts of that manifest from now on. */
  readonly facts: string;
  /** The changed keys. Keys that are not named here stay as they are. */
  readonly keys: readonly NewKey[];
  /** The agent offers nothing from then on. */
  readonly isWithdrawn: boolean;
}

/**
 * What is written together: a handoff, a manifest or a change of keys, settings, and their ledger
 * entries.
 */
export interface Commit {
  /** The new handoff; its version must be exactly one more than the stored one. */
  readonly handoff: StoredHandoff | null;
  /** Its sequence must be exactly one more than that of the agent's newest manifest, 1 for the first. */
  readonly manifest?: NewManifest;
  /** Never together with a manifest, which contains its own keys. */
  readonly keys?: KeyChange;
  /** A setting with another value than expected makes the commit a conflict. Each name occurs once. */
  readonly settings?: readonly SettingChange[];
  readonly entries: readonly NewEntry[];
  /**
   * The places in its group of earlier commits, which depend on none themselves. Unless each of them
   * is made, this commit is a conflict: a receipt is written only with what it confirms.
   */
  readonly dependsOn?: readonly number[];
}

/** A manifest of an agent without its text: cheap to list. */
export interface ManifestCard {
  readonly agent: string;
  /** 1 for the first manifest of an agent, and one more with each. */
  readonly sequence: number;
  readonly digest: Digest;
  /** When the hub took it in. */
  readonly at: number;
  /** What the registry has to know of it without parsing it: its own JSON, which a store never reads. */
  readonly facts: string;
}

/** A manifest as it was published. */
export interface StoredManifest extends ManifestCard {
  readonly text: string;
}

/** A manifest with its index entries. */
export interface NewManifest extends StoredManifest {
  /** The keys that it adds, changes or retires. Keys that are not named here stay as they are. */
  readonly keys: readonly NewKey[];
  /** Everything that the agent offers from now on, each name and version once. */
  readonly capabilities: readonly NewCapability[];
}

/** A key that is to be stored. */
export interface NewKey {
  readonly kid: string;
  /** The registry's own JSON about it. */
  readonly record: string;
}

/** A key and its agent, which never changes, even when the key is retired. */
export interface StoredKey extends NewKey {
  readonly agent: string;
}

/** A capability in a manifest that is to be stored. */
export interface NewCapability {
  readonly name: string;
  readonly version: string;
  /** The registry's own JSON: what routing has to know of it without reading its text. */
  readonly terms: string;
  readonly text: string;
  /** Its audiences, as the registry names them, each once: a store finds it by them. */
  readonly audiences: readonly string[];
}

/** Identifies one capability of one agent. */
export interface OfferPlace {
  readonly name: string;
  readonly agent: string;
  readonly version: string;
}

/** One capability of an agent by its newest manifest, without its text: cheap to list. */
export interface StoredOffer extends OfferPlace {
  readonly terms: string;
  /** The length of its text. */
  readonly characters: number;
  /** Of the manifest that offers it. */
  readonly sequence: number;
  readonly digest: Digest;
  readonly facts: string;
}

/** How many agents offer a capability. */
export interface OfferedName {
  readonly name: string;
  readonly agents: number;
}

/** The outcome of a commit. */
export type CommitOutcome =
  | { readonly type: "committed"; readonly lastSequence: number }
  /**
   * Another hub wrote first, or the commit depends on one that was not made. Nothing was written; read
   * again and decide again.
   */
  | { readonly type: "conflict" }
  /**
   * The ledger has an envelope of this sender with this id. Nothing was written. Checked first: a
   * repetition is told from a race even if the version does not match either.
   */
  | { readonly type: "replayed"; readonly digest: Digest }
  /** A key of the manifest or the change belongs to another agent. Nothing was written. Checked last. */
  | { readonly type: "key_owned"; readonly kid: string; readonly agent: string }
  /** The store has failed at this commit, and can't say whether it happened. */
  | { readonly type: "unknown"; readonly error: unknown };

/** An outcome that leaves no doubt. */
export type KnownOutcome = Exclude<CommitOutcome, { type: "unknown" }>;

/** Pages continue after the last id or sequence that the caller has seen. */
export interface Page<Cursor> {
  readonly after?: Cursor | undefined;
  readonly limit: number;
}

/** A page of texts of any length: it also ends at a limit of characters. */
export interface TextPage<Cursor> extends Page<Cursor> {
  /** The page ends with the item that reaches this, so it has at least one if there is one. */
  readonly characters?: number | undefined;
}

/**
 * Called after each commit, with the handoff that it changed, and the agent that it published or whose
 * keys it changed.
 */
export type CommitListener = (handoff: StoredHandoff | null, publisher: string | null) => void;

/**
 * The hub's durable storage. It decides nothing: only the engine changes state. Commits come in
 * groups, which share one sync. Each commit by itself is all or nothing, a group is not; all of a
 * group is durable once its promise has settled. Several hubs may write to one store; the expected
 * version in each write keeps them apart.
 */
export interface Store {
  /** True if it keeps nothing beyond the process. */
  readonly isVolatile?: boolean;
  /** Where the bytes of blobs are stored. A hub over a store without it stores no blobs. */
  readonly blobs?: BlobStore | undefined;
  /**
   * Makes the commits of a group, as if one came after the other: each outcome is in the place of its
   * commit. A commit that fails changes nothing about the others, before or after it. Rejects if all
   * outcomes are unknown. A commit of unknown outcome may have happened or not, and the caller finds
   * out by reading again from a working store.
   */
  commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]>;

  handoff(id: string): Promise<StoredHandoff | undefined>;
  /** Those that are due, the earliest first. */
  due(now: number, limit: number): Promise<readonly StoredHandoff[]>;
  /** The earliest `wakeAt` of all. */
  nextWakeAt(): Promise<number | null>;
  /** Those that wait for this target, by place, then by id. */
  waiting(target: string, page: Page<WaitingPlace>): Promise<readonly StoredHandoff[]>;
  inbox(agent: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  correlated(correlationId: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  children(parentId: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  /**
   * The members of a group of this delegator: another delegator's group with the same id is another
   * group.
   */
  group(delegator: string, groupId: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  /** Those of a session, the newest first: by `sessionAt`, then by id. */
  session(name: string, limit: number): Promise<readonly StoredHandoff[]>;
  /** Those of one delegator, if one is named. */
  deadLetters(page: Page<string>, delegator?: string): Promise<readonly StoredHandoff[]>;

  /** The envelope that this sender sent under this id, if the ledger has one. */
  seen(from: string, envelopeId: string): Promise<SeenEnvelope | undefined>;
  ledger(page: TextPage<number>): Promise<readonly LedgerEntry[]>;
  ledgerOf(handoffId: string, page: TextPage<number>): Promise<readonly LedgerEntry[]>;
  /** The envelope about a handoff that has this digest. */
  envelope(handoffId: string, digest: Digest): Promise<LedgerEntry | undefined>;
  ledgerHead(): Promise<LedgerHead>;

  /** The newest manifest of an agent. */
  manifest(agent: string): Promise<StoredManifest | undefined>;
  /** The manifests of an agent, by sequence: old entries are verified with old keys. */
  manifests(agent: string, page: TextPage<number>): Promise<readonly StoredManifest[]>;
  /** The newest manifest of each agent, by id. */
  agents(page: Page<string>): Promise<readonly ManifestCard[]>;
  key(kid: string): Promise<StoredKey | undefined>;
  /**
   * What is offered, optionally under one name, and optionally by one agent or to one audience; by
   * name, agent and version.
   */
  offers(
    by: {
      readonly name?: string | undefined;
      readonly agent?: string | undefined;
      readonly audience?: string | undefined;
    },
    page: Page<OfferPlace>,
  ): Promise<readonly StoredOffer[]>;
  /** The text of a capability, and the sequence of the manifest that offers it. */
  capability(
    place: OfferPlace,
  ): Promise<{ readonly text: string; readonly sequence: number } | undefined>;
  /** The names under which something is offered, optionally to one audience; by name. */
  capabilityNames(page: Page<string>, audience?: string): Promise<readonly OfferedName[]>;

  /** Small values of the hub itself (its key, the signed checkpoint), written whole. */
  setting(name: string): Promise<string | undefined>;
  /** The settings with this name prefix, by name. */
  settings(prefix: string, page: Page<string>): Promise<readonly StoredSetting[]>;
  saveSetting(name: string, value: string): Promise<void>;

  /**
   * Calls the listener after any hub's commit, when reads show it, with the handoff and with the agent
   * whose manifest or keys were in it; returns a function that stops it.
   */
  onCommit(listener: CommitListener): () => void;
  /** Settles after the commits under way. Every later call rejects. */
  close(): Promise<void>;
}
