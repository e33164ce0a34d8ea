/// <reference types="node" />
import type { DatabaseSync } from "node:sqlite";
import type {
  BlobStore,
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
} from "@waybill/hub/store";
import { WaybillError } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import { backUp } from "./backup.ts";
import { checkPages } from "./check.ts";
import { Committer } from "./committer.ts";
import { filePath, ledgerHeadOf, openDatabase } from "./database.ts";
import { failureOf } from "./failure.ts";
import { blobFolderOf, fileBlobs } from "./file-blobs.ts";
import { finishRestore, refuseLoneLog } from "./interrupted-restore.ts";
import { acquireOwnership } from "./owner.ts";
import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";
import type { Change } from "./writer.ts";

/** How the file of a store is opened. */
export interface SqliteStoreOptions {
  /** How long to wait for another program that has the file locked, by default two seconds. */
  readonly busyTimeoutMs?: number | undefined;
  /** The maximum size of the file; limited only by the disk by default. */
  readonly bytesMax?: number | undefined;
}

const BUSY_HERE_MS = 20;

/** A store in one SQLite file. */
export interface SqliteStore extends Store {
  /** Copies a snapshot of the store to a new file, while commits go on. */
  backup(path: string): Promise<void>;
  /** Reads every page, index and handoff; rejects if anything is damaged. Takes long in a large file. */
  check(): Promise<void>;
}

/**
 * Opens the store in this file, and creates it if there is none. This process then owns it.
 *
 * @example
 * ```ts
 * const store = await openSqliteStore("hub.db");
 * const hub = await openHub({ store, key: await loadKey("hub.key") });
 * ```
 */
export async function openSqliteStore(
  path: string,
  options: SqliteStoreOptions = {},
): Promise<SqliteStore> {
  const { busyTimeoutMs = 2000, bytesMax = Infinity } = options;
  const file = filePath(path);
  let disown: (() => void) | undefined;
  let database: DatabaseSync | undefined;
  try {
    disown = acquireOwnership(file, busyTimeoutMs);
    finishRestore(file);
    refuseLoneLog(file);
    database = openDatabase(file, busyTimeoutMs, bytesMax);
    const head = ledgerHeadOf(database);
    const start = { path: file, busyTimeoutMs, bytesMax, head };
    const committer = new Committer(start, new Writer(database, head));
    // The thread waits for other programs' locks, while the hub goes on.
    database.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, BUSY_HERE_MS)}`);
    return new FileStore(file, database, committer, disown);
  } catch (error) {
    database?.close();
    disown?.();
    throw failureOf(error, file);
  }
}

class FileStore implements SqliteStore {
  readonly blobs: BlobStore;
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #reader: Reader;
  readonly #committer: Committer;
  readonly #disown: () => void;
  readonly #listeners = new Set<CommitListener>();
  #closing: Promise<void> | undefined;

  constructor(path: string, database: DatabaseSync, committer: Committer, disown: () => void) {
    this.#path = path;
    this.blobs = fileBlobs(blobFolderOf(path));
    this.#database = database;
    this.#committer = committer;
    this.#disown = disown;
    this.#reader = new Reader(database);
  }

  async commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    if (this.#closing !== undefined) throw closed(this.#path);
    const outcomes = await Promise.all(
      group.map((commit) =>
        this.#write(commit).catch((error: unknown): CommitOutcome => ({ type: "unknown", error })),
      ),
    );
    for (const [index, commit] of group.entries()) {
      if (outcomes[index]!.type === "committed") this.#tell(commit);
    }
    return outcomes;
  }

  async saveSetting(name: string, value: string): Promise<void> {
    await this.#write({ setting: name, value });
  }

  async #write(change: Change): Promise<CommitOutcome> {
    if (this.#closing !== undefined) throw closed(this.#path);
    try {
      return await this.#committer.write(change);
    } catch (error) {
      throw failureOf(error, this.#path);
    }
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

  async #read<Value>(read: (reader: Reader) => Value): Promise<Value> {
    if (this.#closing !== undefined) throw closed(this.#path);
    try {
      return read(this.#reader);
    } catch (error) {
      throw failureOf(error, this.#path);
    }
  }

  async check(): Promise<void> {
    await this.#read(() => checkPages(this.#database, this.#path));
    await this.#read((reader) => reader.checkRows());
  }

  async backup(path: string): Promise<void> {
    if (this.#closing !== undefined) throw closed(this.#path);
    await backUp(this.#path, path);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#committer.close();
    this.#listeners.clear();
    this.#database.close();
    this.#disown();
  }

  handoff(id: string): Promise<StoredHandoff | undefined> {
    return this.#read((reader) => reader.handoff(id));
  }

  due(now: number, limit: number): Promise<readonly StoredHandoff[]> {
    return this.#read((reader) => reader.due(now, limit));
  }

  nextWakeAt(): Promise<number | null> {
    return this.#read((reader) => reader.nextWakeAt());
  }

  waiting(target: string, page: Page<WaitingPlace>): Promise<readonly StoredHandoff[]> {
    return this.#read((reader) => reader.waiting(target, page));
  }

  inbox(agent: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#read((reader) => reader.found("inbox", agent, page));
  }

  correlated(correlationId: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#read((reader) => reader.found("correlated", correlationId, page));
  }

  children(parentId: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#read((reader) => reader.found("children", parentId, page));
  }

  session(name: string, limit: number): Promise<readonly StoredHandoff[]> {
    return this.#read((reader) => reader.session(name, limit));
  }

  group(delegator: string, groupId: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#read((reader) => reader.group(delegator, groupId, page));
  }

  deadLetters(page: Page<string>, delegator?: string): Promise<readonly StoredHandoff[]> {
    return this.#read((reader) => reader.deadLetters(page, delegator));
  }

  seen(from: string, envelopeId: string): Promise<SeenEnvelope | undefined> {
    return this.#read((reader) => reader.seen(from, envelopeId));
  }

  ledger(page: TextPage<number>): Promise<readonly LedgerEntry[]> {
    return this.#read((reader) => reader.ledger(page));
  }

  ledgerOf(handoffId: string, page: TextPage<number>): Promise<readonly LedgerEntry[]> {
    return this.#read((reader) => reader.ledgerOf(handoffId, page));
  }

  envelope(handoffId: string, digest: Digest): Promise<LedgerEntry | undefined> {
    return this.#read((reader) => reader.envelope(handoffId, digest));
  }

  manifest(agent: string): Promise<StoredManifest | undefined> {
    return this.#read((reader) => reader.manifest(agent));
  }

  manifests(agent: string, page: TextPage<number>): Promise<readonly StoredManifest[]> {
    return this.#read((reader) => reader.manifests(agent, page));
  }

  agents(page: Page<string>): Promise<readonly ManifestCard[]> {
    return this.#read((reader) => reader.agents(page));
  }

  key(kid: string): Promise<StoredKey | undefined> {
    return this.#read((reader) => reader.key(kid));
  }

  offers(
    by: Parameters<Store["offers"]>[0],
    page: Page<OfferPlace>,
  ): Promise<readonly StoredOffer[]> {
    return this.#read((reader) => reader.offers(by, page));
  }

  capability(place: OfferPlace): ReturnType<Store["capability"]> {
    return this.#read((reader) => reader.capability(place));
  }

  capabilityNames(page: Page<string>, audience?: string): Promise<readonly OfferedName[]> {
    return this.#read((reader) => reader.capabilityNames(page, audience));
  }

  setting(name: string): Promise<string | undefined> {
    return this.#read((reader) => reader.setting(name));
  }

  settings(prefix: string, page: Page<string>): Promise<readonly StoredSetting[]> {
    return this.#read((reader) => reader.settings(prefix, page));
  }

  ledgerHead(): Promise<LedgerHead> {
    return this.#read(() => ledgerHeadOf(this.#database));
  }
}

function closed(path: string): WaybillError {
  return new WaybillError(503, `The store ${path} is closed: open it again to read or write.`);
}
