import { WaybillError } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import type { BlobStore } from "./blobs/blob-store.ts";
import { memoryBlobs } from "./blobs/memory-blobs.ts";
import { faultOfCommit, isOrphaned, stagedView } from "./memory-store/commit.ts";
import type { CommitView } from "./memory-store/commit.ts";
import { changesFrame, cutFrame, readJournal } from "./memory-store/journal.ts";
import type { Change, Disk } from "./memory-store/journal.ts";
import { MemoryState } from "./memory-store/state.ts";
import type {
  Commit,
  CommitListener,
  CommitOutcome,
  LedgerEntry,
  LedgerHead,
  ManifestCard,
  OfferedName,
  OfferPlace,
  Page,
  SeenEnvelope,
  Store,
  StoredHandoff,
  StoredKey,
  StoredManifest,
  StoredOffer,
  StoredSetting,
  TextPage,
  WaitingPlace,
} from "./store.ts";

export type { Disk };

/** Where a store in memory keeps a journal, if any. */
export interface MemoryStoreOptions {
  /** The disk of a journal, so that commits outlive the process. */
  readonly disk?: Disk | undefined;
}

/**
 * A store in memory, for tests and for hubs that need not outlive their process. With a disk it shows
 * only what was synced; an unreadable journal is the error of every call.
 *
 * @example
 * ```ts
 * const hub = await openHub({ store: memoryStore() });
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  return new MemoryStore(options.disk);
}

/** Changes whose outcomes are awaited together. */
interface PendingGroup {
  readonly changes: readonly Change[];
  resolve(outcomes: readonly CommitOutcome[]): void;
  reject(error: WaybillError): void;
}

class MemoryStore implements Store {
  readonly isVolatile: boolean;
  readonly blobs: BlobStore | undefined;
  readonly #state = new MemoryState();
  readonly #disk: Disk | undefined;
  readonly #opened: Promise<void>;
  readonly #listeners = new Set<CommitListener>();
  #waiting: PendingGroup[] = [];
  #flushing: Promise<void> | undefined;
  #isClosing = false;
  /** Why nothing is answered any more. */
  #ended: WaybillError | undefined;

  constructor(disk: Disk | undefined) {
    this.#disk = disk;
    this.isVolatile = disk === undefined;
    this.blobs = disk === undefined ? memoryBlobs() : undefined;
    this.#opened = this.#open();
  }

  async #open(): Promise<void> {
    if (this.#disk === undefined) return;
    try {
      const { changes, tornAt } = readJournal(await this.#disk.read());
      if (tornAt !== undefined) await this.#disk.append(cutFrame(tornAt));
      // Data of a crashed process may be readable and yet not on disk.
      await this.#disk.sync();
      for (const change of changes) this.#apply(change);
    } catch (error) {
      this.#ended = WaybillError.from(error);
    }
  }

  async #read<Value>(read: (state: MemoryState) => Value): Promise<Value> {
    if (this.#disk !== undefined) await this.#opened;
    if (this.#ended !== undefined) throw this.#ended;
    return read(this.#state);
  }

  commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    return this.#write(group.map((commit) => ({ type: "commit", commit })));
  }

  async saveSetting(name: string, value: string): Promise<void> {
    await this.#write([{ type: "setting", name, value }]);
  }

  #write(changes: readonly Change[]): Promise<readonly CommitOutcome[]> {
    if (this.#isClosing) return Promise.reject(closed());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** One sync for everything that waits, then for everything that came meanwhile. */
  async #flush(): Promise<void> {
    await this.#opened;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        if (this.#ended !== undefined) throw this.#ended;
        await this.#commitAll(batch);
      } catch (error) {
        this.#ended ??= diskFailed(error);
        for (const { reject } of batch) reject(this.#ended);
      }
    }
    this.#flushing = undefined;
  }

  async #commitAll(groups: readonly PendingGroup[]): Promise<void> {
    const faults = this.#judge(groups);
    const changes = groups.flatMap((group) => group.changes.filter((each) => !faults.has(each)));
    if (this.#disk !== undefined && changes.length > 0) {
      await this.#disk.append(changesFrame(changes));
      await this.#disk.sync();
    }
    for (const group of groups) {
      group.resolve(group.changes.map((change) => faults.get(change) ?? this.#apply(change)));
    }
    for (const change of changes) {
      if (change.type === "commit") this.#tell(change.commit);
    }
  }

  /** Why some of these changes must fail. The others count as made for those after them. */
  #judge(groups: readonly PendingGroup[]): ReadonlyMap<Change, CommitOutcome> {
    const view = stagedView(this.#state);
    const faults = new Map<Change, CommitOutcome>();
    for (const { changes } of groups) {
      const outcomes: CommitOutcome[] = [];
      for (const change of changes) {
        const fault = faultOf(change, view, outcomes);
        if (fault === undefined) view.stage(stagedOf(change));
        else faults.set(change, fault);
        outcomes.push(fault ?? MADE);
      }
    }
    return faults;
  }

  #apply(change: Change): CommitOutcome {
    if (change.type === "commit") return this.#state.apply(change.commit);
    this.#state.saveSetting(change.name, change.value);
    return { type: "committed", lastSequence: this.#state.ledgerHead().sequence };
  }

  #tell({ handoff, manifest, keys }: Commit): void {
    for (const listener of this.#listeners) {
      // Separate, so that what it throws is no failure of the commit.
      queueMicrotask(() => {
        if (this.#listeners.has(listener)) listener(handoff, (manifest ?? keys)?.agent ?? null);
      });
    }
  }

  onCommit(listener: CommitListener): () => void {
    const own: CommitListener = (handoff, publisher) => listener(handoff, publisher);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#opened;
    await this.#flushing;
    this.#ended ??= closed();
    this.#listeners.clear();
  }

  handoff(id: string): Promise<StoredHandoff | undefined> {
    return this.#read((state) => state.handoff(id));
  }

  due(now: number, limit: number): Promise<readonly StoredHandoff[]> {
    return this.#read((state) => state.due(now, limit));
  }

  nextWakeAt(): Promise<number | null> {
    return this.#read((state) => state.nextWakeAt());
  }

  waiting(target: string, page: Page<WaitingPlace>): Promise<readonly StoredHandoff[]> {
    return this.#read((state) => state.waiting(target, page));
  }

  inbox(agent: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#read((state) => state.inbox(agent, page));
  }

  correlated(correlationId: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#read((state) => state.correlated(correlationId, page));
  }

  children(parentId: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#read((state) => state.children(parentId, page));
  }

  group(delegator: string, groupId: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#read((state) => state.group(delegator, groupId, page));
  }

  session(name: string, limit: number): Promise<readonly StoredHandoff[]> {
    return this.#read((state) => state.session(name, limit));
  }

  deadLetters(page: Page<string>, delegator?: string): Promise<readonly StoredHandoff[]> {
    return this.#read((state) => state.deadLetters(page, delegator));
  }

  seen(from: string, envelopeId: string): Promise<SeenEnvelope | undefined> {
    return this.#read((state) => state.seen(from, envelopeId));
  }

  ledger(page: TextPage<number>): Promise<readonly LedgerEntry[]> {
    return this.#read((state) => state.ledger(page));
  }

  ledgerOf(handoffId: string, page: TextPage<number>): Promise<readonly LedgerEntry[]> {
    return this.#read((state) => state.ledgerOf(handoffId, page));
  }

  envelope(handoffId: string, digest: Digest): Promise<LedgerEntry | undefined> {
    return this.#read((state) => state.envelope(handoffId, digest));
  }

  ledgerHead(): Promise<LedgerHead> {
    return this.#read((state) => state.ledgerHead());
  }

  manifest(agent: string): Promise<StoredManifest | undefined> {
    return this.#read(({ registry }) => registry.manifest(agent));
  }

  manifests(agent: string, page: TextPage<number>): Promise<readonly StoredManifest[]> {
    return this.#read(({ registry }) => registry.manifests(agent, page));
  }

  agents(page: Page<string>): Promise<readonly ManifestCard[]> {
    return this.#read(({ registry }) => registry.agents(page));
  }

  key(kid: string): Promise<StoredKey | undefined> {
    return this.#read(({ registry }) => registry.key(kid));
  }

  offers(
    by: Parameters<Store["offers"]>[0],
    page: Page<OfferPlace>,
  ): Promise<readonly StoredOffer[]> {
    return this.#read(({ registry }) => registry.offers(by, page));
  }

  capability(place: OfferPlace): ReturnType<Store["capability"]> {
    return this.#read(({ registry }) => registry.capability(place));
  }

  capabilityNames(page: Page<string>, audience?: string): Promise<readonly OfferedName[]> {
    return this.#read(({ registry }) => registry.capabilityNames(page, audience));
  }

  setting(name: string): Promise<string | undefined> {
    return this.#read((state) => state.setting(name));
  }

  settings(prefix: string, page: Page<string>): Promise<readonly StoredSetting[]> {
    return this.#read((state) => state.settings(prefix, page));
  }
}

/** A change that can be made; its place in the ledger is not known yet. */
const MADE: CommitOutcome = { type: "committed", lastSequence: 0 };

function faultOf(
  change: Change,
  view: CommitView,
  before: readonly CommitOutcome[],
): CommitOutcome | undefined {
  if (change.type !== "commit") return undefined;
  if (isOrphaned(change.commit, before)) return { type: "conflict" };
  return faultOfCommit(change.commit, view);
}

function stagedOf(change: Change): Commit {
  if (change.type === "commit") return change.commit;
  const { name, value } = change;
  return { handoff: null, entries: [], settings: [{ name, from: null, to: value }] };
}

function closed(): WaybillError {
  return new WaybillError(503, "The store is closed. Open it again to read or write.");
}

function diskFailed(cause: unknown): WaybillError {
  return new WaybillError(
    503,
    `The store's disk failed (${WaybillError.from(cause).message}), so the last write may be there or not. Repair the disk and open the store again.`,
    { cause },
  );
}
