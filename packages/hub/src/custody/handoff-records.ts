import { parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import type { Digest, HandoffEnvelope, VerifiedEnvelope } from "@waybill/protocol";
import type { Commit, CommitOutcome, NewEntry, Store, StoredHandoff } from "../store.ts";
import type { HandoffTransaction } from "./handoff-transaction.ts";
import { decisionEntry } from "./entries.ts";
import type { HubEvent } from "./entries.ts";
import { KeyedQueue } from "../keyed-queue.ts";
import { BoundedCache } from "@waybill/protocol/wire";
import { recordOf, storedOf } from "./handoff-record.ts";
import type { VersionedRecord, HandoffRecord } from "./handoff-record.ts";
import type { StoreWriter } from "./store-writer.ts";

/** A record in memory: the one on disk, plus frames that are not worth a commit. */
export interface CachedRecord extends VersionedRecord {
  /** Events that the ledger needs only if the attempt is lost in this state. */
  readonly soft: readonly HubEvent[];
  readonly isAhead?: true;
}

/** An envelope as it was signed, and when it arrived. */
export interface StoredEnvelope {
  readonly text: string;
  readonly at: number;
}

/** The last version of a handoff that this hub has written, and the newest one that it knows of. */
interface Versions {
  readonly own: number;
  readonly newest: number;
}

/** What is decided about one handoff, but not written yet. */
export interface PendingCommit {
  readonly id: string;
  readonly before: CachedRecord | undefined;
  readonly transaction: HandoffTransaction;
  /** Its sender accepts a receipt that confirms several of its envelopes. */
  readonly sharesReceipt?: boolean;
}

/** One receipt for several envelopes. It is written only if all of them are. */
export interface SharedReceipt {
  readonly of: readonly PendingCommit[];
  readonly receipt: VerifiedEnvelope;
  readonly entry: NewEntry;
}

/** The outcome of a write. */
export type Written =
  /** There was nothing to write. */
  | { readonly type: "unchanged" }
  | { readonly type: "committed"; readonly stored: StoredHandoff }
  /** Another hub has written first. */
  | { readonly type: "conflict" }
  /** Another envelope with the same id is in the ledger. */
  | { readonly type: "replayed"; readonly digest: Digest }
  /** The store has failed to say whether it has this; `stored` is missing if no record was to change. */
  | {
      readonly type: "unknown";
      readonly stored: StoredHandoff | undefined;
      readonly error: unknown;
    };

const RECORDS_CACHED = 20_000;
const ENVELOPE_CHARACTERS_CACHED = 16 * 1024 * 1024;

/** The records of all handoffs in custody: all on disk, the most recent in memory. */
export class HandoffRecords {
  readonly queue: KeyedQueue = new KeyedQueue();
  readonly #store: Store;
  readonly #writer: StoreWriter;
  readonly #cached = new BoundedCache<string, CachedRecord>(RECORDS_CACHED);
  readonly #envelopes = new BoundedCache<string, StoredEnvelope>(
    ENVELOPE_CHARACTERS_CACHED,
    ({ text }) => text.length,
  );
  /** Versions that this hub is writing, so that it does not take the store's echo for another hub's write. */
  readonly #writing = new Map<string, number>();
  readonly #versions = new BoundedCache<string, Versions>(RECORDS_CACHED);

  constructor(store: Store, writer: StoreWriter) {
    this.#store = store;
    this.#writer = writer;
  }

  isOwnWrite({ id, version }: StoredHandoff): boolean {
    return this.#writing.get(id) === version || this.#versions.get(id)?.own === version;
  }

  /** Drops the record in memory if the store has a newer one. */
  invalidate({ id, version }: StoredHandoff): void {
    const { own = 0, newest = 0 } = this.#versions.get(id) ?? {};
    this.#versions.set(id, { own, newest: Math.max(newest, version) });
    const held = this.#cached.get(id);
    if (held !== undefined && held.version < version) this.#cached.delete(id);
  }

  /** The result stays current only within the queue of the handoff. */
  async load(id: string): Promise<CachedRecord | undefined> {
    const held = this.#cached.get(id);
    if (held !== undefined) return held;
    for (;;) {
      const stored = await this.#store.handoff(id);
      const version = stored?.version ?? 0;
      const meanwhile = this.#cached.get(id);
      if (meanwhile !== undefined && meanwhile.version >= version) return meanwhile;
      // Another hub has written a newer version during this read.
      if (version < (this.#versions.get(id)?.newest ?? 0)) continue;
      if (stored === undefined) return undefined;
      const loaded: CachedRecord = { ...recordOf(stored), soft: [] };
      this.#cached.set(id, loaded);
      return loaded;
    }
  }

  /** Only from memory: for a handoff that the store was asked about a moment ago. */
  cached(id: string): CachedRecord | undefined {
    return this.#cached.get(id);
  }

  /** From the store, even if it is in memory. */
  reload(id: string): Promise<CachedRecord | undefined> {
    this.#cached.delete(id);
    return this.load(id);
  }

  keep(record: CachedRecord): void {
    this.#cached.set(record.record.state.id, record);
  }

  /**
   * Writes transactions, each as the next version of its handoff's record; one outcome each. `confirm`
   * signs the receipts for those that may be written. A transaction of which a shared receipt is not
   * on disk has none afterwards.
   */
  async write(
    group: readonly PendingCommit[],
    confirm: (written: readonly PendingCommit[]) => readonly SharedReceipt[] = () => [],
  ): Promise<readonly Written[]> {
    // Without a change no version is compared: the store is asked instead.
    const unchanged = group.filter((each) => !each.transaction.isChanged && each.before);
    const outdated = unchanged.length === 0 ? NONE_PENDING : await this.#outdatedOf(unchanged);
    const current = group.filter((pending) => !outdated.has(pending));
    const receipts = confirm(current);
    const writes = current.flatMap((pending) => writeOf(pending) ?? []);
    for (const { id, version } of writes) this.#writing.set(id, version);
    const places = new Map(writes.map(({ pending }, place) => [pending, place]));
    const commits: readonly Commit[] = [
      ...writes.map(({ commit }) => commit),
      ...receipts.map(({ of, entry }) => ({
        handoff: null,
        entries: [entry],
        dependsOn: of.map((pending) => places.get(pending)!),
      })),
    ];
    const outcomes = commits.length === 0 ? [] : await this.#writer.commit(commits);
    const written = new Map<PendingCommit, Written>();
    for (const pending of outdated) written.set(pending, { type: "conflict" });
    writes.forEach((write, index) =>
      written.set(write.pending, this.#settle(write, outcomes[index]!)),
    );
    receipts.forEach(({ of, receipt }, index) => {
      if (outcomes[writes.length + index]!.type !== "committed") return;
      for (const { transaction } of of) transaction.receipt = receipt;
    });
    return group.map((pending) => written.get(pending) ?? { type: "unchanged" });
  }

  #settle({ id, version, pending, next, stored }: Write, outcome: CommitOutcome): Written {
    const { transaction } = pending;
    const isChanged = stored !== undefined;
    this.#writing.delete(id);
    if (outcome.type === "unknown") {
      // The commit may be on disk or not: the next load asks the store.
      this.#cached.delete(id);
      return { type: "unknown", stored, error: outcome.error };
    }
    if (outcome.type === "replayed") return outcome;
    if (outcome.type !== "committed") return { type: "conflict" };
    const { own = 0, newest = 0 } = this.#versions.get(id) ?? {};
    if (isChanged) this.#versions.set(id, { own: version, newest: Math.max(newest, own, version) });
    if (transaction.record?.state.isAcknowledged === true) this.#uncache(transaction.record);
    else this.#cache(next, transaction);
    return { type: "committed", stored: stored ?? storedOf(next) };
  }

  async #outdatedOf(group: readonly PendingCommit[]): Promise<ReadonlySet<PendingCommit>> {
    const are = await Promise.all(group.map(({ id, before }) => this.#isOutdated(id, before!)));
    return new Set(group.filter((_, index) => are[index]));
  }

  async #isOutdated(id: string, before: VersionedRecord): Promise<boolean> {
    const stored = await this.#store.handoff(id);
    if (stored === undefined || stored.version <= before.version) return false;
    this.invalidate(stored);
    return true;
  }

  #cache(next: VersionedRecord, { record, entries, receipt }: HandoffTransaction): void {
    if (record !== undefined) this.#cached.set(record.state.id, { ...next, soft: [] });
    for (const { type, digest, content, at } of entries) {
      // A receipt of the hub is for its sender alone, who has it now.
      if (type === "envelope" && digest !== receipt?.digest) {
        this.#envelopes.set(digest, { text: content, at });
      }
    }
  }

  /** An acknowledged handoff is hardly ever read again: caching it costs more than another read. */
  #uncache({ state: { id, digest, outcome }, acceptance, notice }: HandoffRecord): void {
    this.#cached.delete(id);
    for (const each of [digest, acceptance, outcome, notice]) {
      if (each !== null) this.#envelopes.delete(each);
    }
  }

  /** An envelope of a handoff, by its digest: from memory, or from the ledger. */
  async envelope(id: string, digest: Digest): Promise<StoredEnvelope> {
    const known = this.#envelopes.get(digest);
    if (known !== undefined) return known;
    const found = await this.#store.envelope(id, digest);
    if (found !== undefined) {
      const envelope = { text: found.content, at: found.at };
      this.#envelopes.set(digest, envelope);
      return envelope;
    }
    throw new WaybillError(
      500,
      `The ledger has no envelope ${digest} of handoff ${id}, though its record names it: the store is damaged. Check it with the ledger's verification.`,
    );
  }

  /** Several of them; returns a promise only if one is not in memory. */
  envelopes(
    id: string,
    digests: readonly Digest[],
  ): readonly StoredEnvelope[] | Promise<readonly StoredEnvelope[]> {
    const known = digests.map((digest) => this.#envelopes.get(digest));
    if (known.every((each) => each !== undefined)) return known;
    return Promise.all(digests.map((digest) => this.envelope(id, digest)));
  }

  async handoffOf(transaction: HandoffTransaction): Promise<HandoffEnvelope> {
    if (transaction.handoff === undefined) {
      const { id, digest } = transaction.record!.state;
      const { text } = await this.envelope(id, digest);
      transaction.handoff = parseEnvelope(readCompact(text).payload) as HandoffEnvelope;
    }
    return transaction.handoff;
  }
}

const NONE_PENDING: ReadonlySet<PendingCommit> = new Set();

/** A pending commit as the store gets it, and what its outcome will be applied to. */
interface Write {
  readonly id: string;
  readonly version: number;
  readonly pending: PendingCommit;
  readonly next: VersionedRecord;
  /** Undefined if the record does not change. */
  readonly stored: StoredHandoff | undefined;
  readonly commit: Commit;
}

/** Undefined if there is nothing to write. */
function writeOf(pending: PendingCommit): Write | undefined {
  const { id, before, transaction } = pending;
  const { record, entries, settings } = transaction;
  const isChanged = transaction.isChanged && record !== undefined;
  if (!isChanged && entries.length === 0) return undefined;
  const version = (before?.version ?? 0) + (isChanged ? 1 : 0);
  const next: VersionedRecord = { version, record: record! };
  const stored = isChanged ? storedOf(next) : undefined;
  const commit: Commit = {
    handoff: stored ?? null,
    entries: [...softOf(before, transaction), ...entries],
    ...(settings.length > 0 && { settings }),
  };
  return { id, version, pending, next, stored, commit };
}

/** The ledger needs the frame "taken" only if no envelope says more. */
function softOf(
  before: CachedRecord | undefined,
  transaction: HandoffTransaction,
): readonly NewEntry[] {
  if (before === undefined || before.soft.length === 0) return [];
  const last = transaction.record?.state.attempts.at(-1);
  if (last?.state !== "offered" && last?.closed !== "lease_lost") return [];
  return before.soft.map((event) => decisionEntry(event.at, transaction.record!.state.id, event));
}
