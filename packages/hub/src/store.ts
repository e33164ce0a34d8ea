import type { Digest, HandoffState } from "@waybill/protocol";
import type { BlobStore } from "./blobs/blob-store.ts";

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
  /** Its place among those that wait for the same target; 0 where it waits for nobody. */
  readonly waitsAt: number;
  /** The session with whose holder it stands, as the engine names it; null where it has none, or no holder. */
  readonly session: string | null;
  /** When its session came to that holder; 0 where it has none. */
  readonly sessionAt: number;
  /** The agents in whose inbox it stands: something of it is undelivered or unacknowledged. */
  readonly inboxes: readonly string[];
  /** True for a dead letter that nobody has replayed or discarded. */
  readonly isDeadLetter: boolean;
}

/** Where a handoff stands among those that wait for one target. */
export type WaitingPlace = Pick<StoredHandoff, "waitsAt" | "id">;

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

/** An entry of the ledger, with its place in the chain. */
export interface LedgerEntry extends NewEntry {
  /** From 1, without a gap. */
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

/** One setting that a commit changes, where it still is what the commit expects. */
export interface SettingChange {
  readonly name: string;
  /** What it must be now; null where it must not be there. */
  readonly from: string | null;
  /** What it is from then on; null takes it away. */
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
  /** Of the agent's newest manifest: where that is another, the commit is a conflict. */
  readonly sequence: number;
  /** The facts of that manifest from now on. */
  readonly facts: string;
  /** The keys that change. Keys that are not named here stay as they are. */
  readonly keys: readonly NewKey[];
  /** The agent offers nothing from then on. */
  readonly isWithdrawn: boolean;
}

/** What is written together: a handoff, a manifest or a change of keys, settings, and the ledger entries that belong to them. */
export interface Commit {
  /** The handoff as it is to be; its version must be exactly one more than what the store has. */
  readonly handoff: StoredHandoff | null;
  /** Its sequence must be exactly one more than that of the agent's newest manifest, 1 for the first. */
  readonly manifest?: NewManifest;
  /** Never beside a manifest, which brings its own keys. */
  readonly keys?: KeyChange;
  /** A setting that is not as expected makes the commit a conflict. Each name stands here once. */
  readonly settings?: readonly SettingChange[];
  readonly entries: readonly NewEntry[];
}

/** A manifest of an agent without its text: cheap to list. */
export interface ManifestCard {
  readonly agent: string;
  /** 1 for the first manifest of an agent, and one more with each. */
  readonly sequence: number;
  readonly digest: Digest;
  /** When the hub took it in. */
  readonly at: number;
  /** What the registry has to know of it without reading it: its own JSON, and a store never looks inside. */
  readonly facts: string;
}

/** A manifest as it was published. */
export interface StoredManifest extends ManifestCard {
  readonly text: string;
}

/** A manifest with what it is found by. */
export interface NewManifest extends StoredManifest {
  /** The keys that it adds, changes or retires. Keys that are not named here stay as they are. */
  readonly keys: readonly NewKey[];
  /** All that the agent offers from now on, each name and version once. */
  readonly capabilities: readonly NewCapability[];
}

/** A key that is to be stored. */
export interface NewKey {
  readonly kid: string;
  /** The registry's own JSON about it. */
  readonly record: string;
}

/** A key and the agent that it belongs to, for ever: also when it is retired. */
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
  /** For whom it is, as the registry names them, each once: a store finds it by them. */
  readonly audiences: readonly string[];
}

/** Names one capability of one agent. */
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

/** What became of a commit. */
export type CommitOutcome =
  | { readonly type: "committed"; readonly lastSequence: number }
  /** Somebody else wrote first. Nothing was written; read again and decide again. */
  | { readonly type: "conflict" }
  /**
   * An envelope of this sender under this id is in the ledger. Nothing was written. Looked at
   * first: a repetition is told from a race even where the version does not fit either.
   */
  | { readonly type: "replayed"; readonly digest: Digest }
  /** A key of the manifest or the change belongs to another agent. Nothing was written. Looked at last. */
  | { readonly type: "key_owned"; readonly kid: string; readonly agent: string };

/** Pages go on after the last id or sequence that the caller has seen. */
export interface Page<Cursor> {
  readonly after?: Cursor | undefined;
  readonly limit: number;
}

/** A page of texts, which are of any length: it ends also where they come to so many characters. */
export interface TextPage<Cursor> extends Page<Cursor> {
  /** The page ends with the item that reaches this, so it has at least one where there is one. */
  readonly characters?: number | undefined;
}

/** Told of each commit: the handoff that it changed, and the agent that it published or whose keys it changed. */
export type CommitListener = (handoff: StoredHandoff | null, publisher: string | null) => void;

/**
 * The hub's durable driver. It decides nothing: the engine is the only thing that changes state.
 * A commit is all or nothing, and durable once its promise has settled; several hubs may write to
 * one store, and the version that each write names keeps them apart.
 */
export interface Store {
  /** True where all that it keeps is gone with the process. */
  readonly isVolatile?: boolean;
  /** Where the bytes of blobs are. A hub over a store without it keeps no blobs. */
  readonly blobs?: BlobStore | undefined;
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
  /** Those that wait for this target, by their place, and by id where that is the same. */
  waiting(target: string, page: Page<WaitingPlace>): Promise<readonly StoredHandoff[]>;
  inbox(agent: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  correlated(correlationId: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  children(parentId: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  /** The members of a group of this delegator: another one's group of the same id is another group. */
  group(delegator: string, groupId: string, page: Page<string>): Promise<readonly StoredHandoff[]>;
  /** Those of a session, the newest first: by `sessionAt`, and by id where that is the same. */
  session(name: string, limit: number): Promise<readonly StoredHandoff[]>;
  /** Those of one delegator, where one is named. */
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
  /** The manifests of an agent, by sequence: old entries are checked with old keys. */
  manifests(agent: string, page: TextPage<number>): Promise<readonly StoredManifest[]>;
  /** The newest manifest of each agent, by id. */
  agents(page: Page<string>): Promise<readonly ManifestCard[]>;
  key(kid: string): Promise<StoredKey | undefined>;
  /**
   * What is offered, under one name where it is given, and by one agent or to one audience where one of
   * these is; by name, agent and version.
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
  /** The names under which something is offered, to one audience where it is given; by name. */
  capabilityNames(page: Page<string>, audience?: string): Promise<readonly OfferedName[]>;

  /** Small values of the hub itself (its key, the signed checkpoint), written whole. */
  setting(name: string): Promise<string | undefined>;
  /** The settings whose names begin with this, by name. */
  settings(prefix: string, page: Page<string>): Promise<readonly StoredSetting[]>;
  saveSetting(name: string, value: string): Promise<void>;

  /**
   * Calls the listener after any hub's commit, which reads show by then, with the handoff and with
   * the agent whose manifest or keys were in it; returns what ends it.
   */
  onCommit(listener: CommitListener): () => void;
  /** Settles after the commits that are under way. Every later call rejects. */
  close(): Promise<void>;
}
