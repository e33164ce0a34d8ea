import { parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import type { Digest, HandoffEnvelope } from "@waybill/protocol";
import type { Clock } from "../clock.ts";
import type { Commit, NewEntry, Store, StoredHandoff } from "../store.ts";
import { HandoffTransaction } from "./handoff-transaction.ts";
import { decisionEntry } from "./entries.ts";
import type { HubEvent } from "./entries.ts";
import { KeyedQueue } from "../keyed-queue.ts";
import { BoundedCache } from "../bounded-cache.ts";
import { recordOf, storedOf } from "./handoff-record.ts";
import type { VersionedRecord, HandoffRecord } from "./handoff-record.ts";

/** What stands in memory: the case on disk, and the frames that are not worth a commit. */
interface CachedRecord extends VersionedRecord {
  /** What the ledger needs only if the attempt is lost in this state. */
  readonly soft: readonly HubEvent[];
  readonly isAhead?: true;
}

/** An envelope as it was signed, and when it came in. */
export interface StoredEnvelope {
  readonly text: string;
  readonly at: number;
}

/** The last version of a handoff that was written here, and the newest one that was heard of. */
interface Versions {
  readonly own: number;
  readonly newest: number;
}

export type Changed<Value> =
  | { readonly type: "changed"; readonly value: Value; readonly transaction: HandoffTransaction }
  /** Somebody's envelope of the same id is in the ledger. */
  | { readonly type: "replayed"; readonly digest: Digest };

export interface HandoffRecordsOptions {
  readonly store: Store;
  readonly commit: Store["commit"];
  readonly clock: Clock;
  /** Adds what follows from a plan, in the same commit. */
  readonly finish: (transaction: HandoffTransaction) => Promise<void>;
  /** Takes back what `finish` or the plan has reserved. */
  readonly onAbandoned: (transaction: HandoffTransaction) => void;
  /** The transaction is on disk: what it says may leave. */
  readonly onCommitted: (transaction: HandoffTransaction, stored: StoredHandoff) => Promise<void>;
  /** The store has failed to say whether it has this. */
  readonly onCommitUnknown: (stored: StoredHandoff) => void;
  /** Another hub has written first. */
  readonly onConflict: (held: VersionedRecord) => Promise<void>;
}

const RECORDS_CACHED = 20_000;
const ENVELOPE_CHARACTERS_CACHED = 16 * 1024 * 1024;

/** Every handoff in custody, changed one step at a time, each step on disk before it shows. */
export class HandoffRecords {
  readonly queue: KeyedQueue = new KeyedQueue();
  readonly #options: HandoffRecordsOptions;
  readonly #cached = new BoundedCache<string, CachedRecord>(RECORDS_CACHED);
  readonly #envelopes = new BoundedCache<string, StoredEnvelope>(
    ENVELOPE_CHARACTERS_CACHED,
    ({ text }) => text.length,
  );
  /** Versions that are being written here, so that the store's echo is not taken for another hub's. */
  readonly #writing = new Map<string, number>();
  readonly #versions = new BoundedCache<string, Versions>(RECORDS_CACHED);

  constructor(options: HandoffRecordsOptions) {
    this.#options = options;
  }

  isOwnWrite({ id, version }: StoredHandoff): boolean {
    return this.#writing.get(id) === version || this.#versions.get(id)?.own === version;
  }

  /** Drops what is in memory if the store has something newer. */
  invalidate({ id, version }: StoredHandoff): void {
    const { own = 0, newest = 0 } = this.#versions.get(id) ?? {};
    this.#versions.set(id, { own, newest: Math.max(newest, version) });
    const held = this.#cached.get(id);
    if (held !== undefined && held.version < version) this.#cached.delete(id);
  }

  /** Only inside the handoff's lane is what this gives still true a moment later. */
  async load(id: string): Promise<VersionedRecord | undefined> {
    const held = this.#cached.get(id);
    if (held !== undefined) return held;
    for (;;) {
      const stored = await this.#options.store.handoff(id);
      const version = stored?.version ?? 0;
      const meanwhile = this.#cached.get(id);
      if (meanwhile !== undefined && meanwhile.version >= version) return meanwhile;
      // What another hub has written since was told while this was being read: it is out of date.
      if (version < (this.#versions.get(id)?.newest ?? 0)) continue;
      if (stored === undefined) return undefined;
      const loaded: CachedRecord = { ...recordOf(stored), soft: [] };
      this.#cached.set(id, loaded);
      return loaded;
    }
  }

  /** As the store has it now, whatever other hubs have not told yet. */
  async current(id: string): Promise<HandoffRecord | undefined> {
    const changed = await this.change(id, ({ record }) => record);
    return changed.type === "changed" ? changed.value : undefined;
  }

  /**
   * Runs a plan in the handoff's lane, again where another hub has written in between. `isAbsent`:
   * the store was asked a moment ago and has none; if that is not so any more, the commit tells.
   */
  change<Value>(
    id: string,
    plan: (transaction: HandoffTransaction) => Value | Promise<Value>,
    isAbsent: boolean = false,
  ): Promise<Changed<Value>> {
    return this.queue.run(id, async () => {
      for (let isFirst = true; ; isFirst = false) {
        const before =
          isFirst && isAbsent
            ? this.#cached.get(id)
            : ((await this.load(id)) as CachedRecord | undefined);
        const transaction = new HandoffTransaction(
          before?.record,
          before?.version ?? 0,
          this.#options.clock.now(),
        );
        let outcome: "conflict" | Changed<Value>;
        try {
          const value = await plan(transaction);
          await this.#options.finish(transaction);
          outcome = (await this.#isOutdated(id, before, transaction))
            ? "conflict"
            : await this.#write(id, before, transaction, value);
        } catch (error) {
          this.#options.onAbandoned(transaction);
          throw error;
        }
        if (outcome !== "conflict" && outcome.type === "changed") return outcome;
        this.#options.onAbandoned(transaction);
        await this.#catchUp(id, before);
        if (outcome !== "conflict") return outcome;
      }
    });
  }

  /** What another hub has written may have been taken for the write of the same version here. */
  async #catchUp(id: string, before: VersionedRecord | undefined): Promise<void> {
    this.#cached.delete(id);
    const newer = await this.load(id);
    if (newer === undefined || newer.version === before?.version) return;
    await this.#options.onConflict(newer);
  }

  /** What changes nothing meets no version in the store: it must not be decided on an old one. */
  async #isOutdated(
    id: string,
    before: VersionedRecord | undefined,
    transaction: HandoffTransaction,
  ): Promise<boolean> {
    if (before === undefined || transaction.isChanged) return false;
    const stored = await this.#options.store.handoff(id);
    if (stored === undefined || stored.version <= before.version) return false;
    this.invalidate(stored);
    return true;
  }

  /**
   * Takes a frame: in memory, and every second one on disk. With frames a third of the lease apart
   * no other hub, and no restart, sees an attempt as silent that is not.
   */
  frame(
    id: string,
    plan: (transaction: HandoffTransaction) => readonly HubEvent[] | undefined,
  ): Promise<void> {
    return this.queue.run(id, async () => {
      const before = (await this.load(id)) as CachedRecord | undefined;
      if (before === undefined) return;
      const transaction = new HandoffTransaction(
        before.record,
        before.version,
        this.#options.clock.now(),
      );
      const events = plan(transaction);
      if (events === undefined || transaction.record === undefined) return;
      const soft = [...before.soft, ...events];
      if (before.isAhead !== true) {
        const { version } = before;
        this.#cached.set(id, { version, record: transaction.record, soft, isAhead: true });
        return;
      }
      const outcome = await this.#write(id, { ...before, soft }, transaction, undefined);
      if (outcome === "conflict") await this.#catchUp(id, before);
    });
  }

  async #write<Value>(
    id: string,
    before: CachedRecord | undefined,
    transaction: HandoffTransaction,
    value: Value,
  ): Promise<"conflict" | Changed<Value>> {
    const { commit: commitTo, onCommitted } = this.#options;
    const isChanged = transaction.isChanged && transaction.record !== undefined;
    if (!isChanged && transaction.entries.length === 0)
      return { type: "changed", value, transaction };
    const version = (before?.version ?? 0) + (isChanged ? 1 : 0);
    const next: VersionedRecord = { version, record: transaction.record! };
    const stored = storedOf(next);
    const entries = [...softOf(before, transaction), ...transaction.entries];
    this.#writing.set(id, version);
    const { settings } = transaction;
    const commit: Commit = {
      handoff: isChanged ? stored : null,
      entries,
      ...(settings.length > 0 && { settings }),
    };
    let outcome;
    try {
      outcome = await commitTo(commit);
    } catch (error) {
      // It may be on disk or not: the store is asked again.
      this.#cached.delete(id);
      if (isChanged) this.#options.onCommitUnknown(stored);
      throw error;
    } finally {
      this.#writing.delete(id);
    }
    if (outcome.type === "replayed") return outcome;
    if (outcome.type !== "committed") return "conflict";
    const { own = 0, newest = 0 } = this.#versions.get(id) ?? {};
    if (isChanged) this.#versions.set(id, { own: version, newest: Math.max(newest, own, version) });
    if (transaction.record?.state.isAcknowledged === true) this.#uncache(transaction.record);
    else this.#cache(next, transaction);
    await onCommitted(transaction, stored);
    return { type: "changed", value, transaction };
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

  /** Hardly anybody asks for it again, and to keep it costs more than to read it for who does. */
  #uncache({ state: { id, digest, outcome }, acceptance, notice }: HandoffRecord): void {
    this.#cached.delete(id);
    for (const each of [digest, acceptance, outcome, notice]) {
      if (each !== null) this.#envelopes.delete(each);
    }
  }

  /** An envelope of a handoff, by its digest: from memory, or out of the ledger. */
  async envelope(id: string, digest: Digest): Promise<StoredEnvelope> {
    const known = this.#envelopes.get(digest);
    if (known !== undefined) return known;
    const found = await this.#options.store.envelope(id, digest);
    if (found !== undefined) {
      const paper = { text: found.content, at: found.at };
      this.#envelopes.set(digest, paper);
      return paper;
    }
    throw new WaybillError(
      500,
      `The ledger has no envelope ${digest} of handoff ${id}, though its record names it: the store is damaged. Check it with the ledger's verification.`,
    );
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

/** That an attempt was taken matters to the ledger only where nothing signed says more. */
function softOf(
  before: CachedRecord | undefined,
  transaction: HandoffTransaction,
): readonly NewEntry[] {
  if (before === undefined || before.soft.length === 0) return [];
  const last = transaction.record?.state.attempts.at(-1);
  if (last?.state !== "offered" && last?.closed !== "lease_lost") return [];
  return before.soft.map((event) => decisionEntry(event.at, transaction.record!.state.id, event));
}
