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
import type { Change, ChangeResult, StoreTime } from "./committer.ts";
import { checkTail, filePath, openDatabase } from "./database.ts";
import { failureOf } from "./failure.ts";
import { blobFolderOf, fileBlobs } from "./file-blobs.ts";
import { Indexer } from "./indexer.ts";
import type { IndexFollower } from "./indexer.ts";
import { finishRestore, refuseLoneLog } from "./interrupted-restore.ts";
import { FileFolder } from "./log/file-folder.ts";
import { linesOf, parseLine } from "./log/line.ts";
import { Log } from "./log/log.ts";
import { verifyLog } from "./log/verify.ts";
import { logFolderOf } from "./log-folder.ts";
import { acquireOwnership } from "./owner.ts";
import { Reader } from "./reader.ts";
import { settingOf, Unindexed } from "./unindexed.ts";

/** How the file of a store is opened. */
export interface SqliteStoreOptions {
  /** How long to wait for another program that has the file locked, by default two seconds. */
  readonly busyTimeoutMs?: number | undefined;
  /** The maximum size of the log, and of the index; limited only by the disk by default. */
  readonly bytesMax?: number | undefined;
}

const BUSY_HERE_MS = 20;

/** A store whose ledger is its log, with an index in a SQLite file. */
export interface SqliteStore extends Store {
  /** Copies a snapshot of the store to a new file, while commits go on. */
  backup(path: string): Promise<void>;
  /**
   * Reads every segment, page, index and handoff; rejects if anything is damaged. Takes long in a
   * large store.
   */
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
  const folder = new FileFolder(logFolderOf(file));
  let disown: (() => void) | undefined;
  let database: DatabaseSync | undefined;
  try {
    disown = acquireOwnership(file, busyTimeoutMs);
    finishRestore(file);
    refuseLoneLog(file);
    database = openDatabase(file, busyTimeoutMs, bytesMax);
    const reader = new Reader(database, folder);
    const place = reader.place();
    checkTail(reader, place);
    const unindexed = new Unindexed();
    const log = await Log.open(
      folder,
      place,
      ({ body, number }) => {
        for (const { text } of linesOf(body)) unindexed.add(number, parseLine(text));
      },
      { bytesMax },
    );
    const start = { path: file, folder: logFolderOf(file), busyTimeoutMs, bytesMax, place };
    const indexer = new Indexer(start, (frame) => unindexed.drop(frame));
    if (log.place.frame > place.frame) indexer.follow(log.place);
    // The thread of the index waits for other programs' locks, while the hub goes on.
    database.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, BUSY_HERE_MS)}`);
    const blobs = fileBlobs(blobFolderOf(file));
    return new FileStore({ path: file, database, reader, log, unindexed, indexer, blobs, disown });
  } catch (error) {
    database?.close();
    disown?.();
    throw failureOf(error, file);
  }
}

/** What a store is made of. */
export interface StoreParts {
  /** What errors call it. */
  readonly path: string;
  readonly database: DatabaseSync;
  readonly reader: Reader;
  readonly log: Log;
  readonly unindexed: Unindexed;
  readonly indexer: IndexFollower;
  readonly blobs: BlobStore | undefined;
  readonly time?: StoreTime | undefined;
  readonly disown: () => void;
}

/** A store over its log and the index. */
export class FileStore implements SqliteStore {
  readonly blobs: BlobStore | undefined;
  readonly #parts: StoreParts;
  readonly #committer: Committer;
  readonly #listeners = new Set<CommitListener>();
  #closing: Promise<void> | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.blobs = parts.blobs;
    this.#committer = new Committer(parts);
  }

  async commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    const results = await this.#write(group);
    return results.map((result, index) => {
      if ("error" in result) {
        return { type: "unknown", error: failureOf(result.error, this.#parts.path) };
      }
      if (result.outcome.type === "committed") this.#tell(group[index]!);
      return result.outcome;
    });
  }

  async saveSetting(name: string, value: string): Promise<void> {
    const [result] = await this.#write([{ setting: name, value }]);
    if ("error" in result!) throw failureOf(result.error, this.#parts.path);
  }

  async #write(changes: readonly Change[]): Promise<readonly ChangeResult[]> {
    if (this.#closing !== undefined) throw closed(this.#parts.path);
    try {
      return await this.#committer.write(changes);
    } catch (error) {
      throw failureOf(error, this.#parts.path);
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

  /** What is not indexed yet is answered from memory: one look-up by its key. */
  async #look<Value>(look: (parts: StoreParts) => Value): Promise<Value> {
    if (this.#closing !== undefined) throw closed(this.#parts.path);
    try {
      return look(this.#parts);
    } catch (error) {
      throw failureOf(error, this.#parts.path);
    }
  }

  /** A listing waits until the index has the commits that were made before. */
  async #list<Value>(read: (reader: Reader) => Value): Promise<Value> {
    if (this.#closing !== undefined) throw closed(this.#parts.path);
    try {
      await this.#parts.indexer.caughtUp();
    } catch (error) {
      throw failureOf(error, this.#parts.path);
    }
    return this.#look(({ reader }) => read(reader));
  }

  async check(): Promise<void> {
    await this.#list(() => checkPages(this.#parts.database, this.#parts.path));
    await this.#list((reader) => reader.checkRows());
    const folder = new FileFolder(logFolderOf(this.#parts.path), true);
    await this.#list((reader) => verifyLog(folder, reader.start(), reader.place()));
  }

  async backup(path: string): Promise<void> {
    if (this.#closing !== undefined) throw closed(this.#parts.path);
    await backUp(this.#parts.path, path);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { database, reader, log, indexer, disown } = this.#parts;
    await this.#committer.close();
    this.#listeners.clear();
    await indexer.close();
    await log.close();
    reader.close();
    database.close();
    disown();
  }

  handoff(id: string): Promise<StoredHandoff | undefined> {
    return this.#look(
      ({ unindexed, reader }) => unindexed.handoffs.get(id)?.value ?? reader.handoff(id),
    );
  }

  due(now: number, limit: number): Promise<readonly StoredHandoff[]> {
    return this.#list((reader) => reader.due(now, limit));
  }

  nextWakeAt(): Promise<number | null> {
    return this.#list((reader) => reader.nextWakeAt());
  }

  waiting(target: string, page: Page<WaitingPlace>): Promise<readonly StoredHandoff[]> {
    return this.#list((reader) => reader.waiting(target, page));
  }

  inbox(agent: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#list((reader) => reader.found("inbox", agent, page));
  }

  correlated(correlationId: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#list((reader) => reader.found("correlated", correlationId, page));
  }

  children(parentId: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#list((reader) => reader.found("children", parentId, page));
  }

  session(name: string, limit: number): Promise<readonly StoredHandoff[]> {
    return this.#list((reader) => reader.session(name, limit));
  }

  group(delegator: string, groupId: string, page: Page<string>): Promise<readonly StoredHandoff[]> {
    return this.#list((reader) => reader.group(delegator, groupId, page));
  }

  deadLetters(page: Page<string>, delegator?: string): Promise<readonly StoredHandoff[]> {
    return this.#list((reader) => reader.deadLetters(page, delegator));
  }

  seen(from: string, envelopeId: string): Promise<SeenEnvelope | undefined> {
    return this.#look(
      ({ unindexed, reader }) => unindexed.seen(from, envelopeId) ?? reader.seen(from, envelopeId),
    );
  }

  ledger(page: TextPage<number>): Promise<readonly LedgerEntry[]> {
    return this.#list((reader) => reader.ledger(page));
  }

  ledgerOf(handoffId: string, page: TextPage<number>): Promise<readonly LedgerEntry[]> {
    return this.#list((reader) => reader.ledgerOf(handoffId, page));
  }

  envelope(handoffId: string, digest: Digest): Promise<LedgerEntry | undefined> {
    return this.#look(
      ({ unindexed, reader }) =>
        unindexed.envelope(handoffId, digest) ?? reader.envelope(handoffId, digest),
    );
  }

  manifest(agent: string): Promise<StoredManifest | undefined> {
    if (this.#parts.unindexed.agents.get(agent) !== undefined) {
      return this.#list((reader) => reader.manifest(agent));
    }
    return this.#look(({ reader }) => reader.manifest(agent));
  }

  manifests(agent: string, page: TextPage<number>): Promise<readonly StoredManifest[]> {
    return this.#list((reader) => reader.manifests(agent, page));
  }

  agents(page: Page<string>): Promise<readonly ManifestCard[]> {
    return this.#list((reader) => reader.agents(page));
  }

  key(kid: string): Promise<StoredKey | undefined> {
    return this.#look(({ unindexed, reader }) => unindexed.keys.get(kid)?.value ?? reader.key(kid));
  }

  offers(
    by: Parameters<Store["offers"]>[0],
    page: Page<OfferPlace>,
  ): Promise<readonly StoredOffer[]> {
    return this.#list((reader) => reader.offers(by, page));
  }

  capability(place: OfferPlace): ReturnType<Store["capability"]> {
    return this.#list((reader) => reader.capability(place));
  }

  capabilityNames(page: Page<string>, audience?: string): Promise<readonly OfferedName[]> {
    return this.#list((reader) => reader.capabilityNames(page, audience));
  }

  setting(name: string): Promise<string | undefined> {
    return this.#look(({ unindexed, reader }) => settingOf(name, unindexed, reader));
  }

  settings(prefix: string, page: Page<string>): Promise<readonly StoredSetting[]> {
    return this.#list((reader) => reader.settings(prefix, page));
  }

  ledgerHead(): Promise<LedgerHead> {
    return this.#look(() => this.#committer.head);
  }
}

function closed(path: string): WaybillError {
  return new WaybillError(503, `The store ${path} is closed: open it again to read or write.`);
}
