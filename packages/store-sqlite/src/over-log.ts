/// <reference types="node" />
// For tests of what a store does to its disk: the same log and the same commits, over a folder that is
// handed in.
import { DatabaseSync } from "node:sqlite";
import type { Store } from "@waybill/hub/store";
import type { StoreTime } from "./committer.ts";
import { failureOf } from "./failure.ts";
import { IndexWriter } from "./index-writer.ts";
import type { IndexFollower } from "./indexer.ts";
import type { LogFile, LogFolder, ReadableLogFile, ReadableLogFolder } from "./log/disk.ts";
import { linesOf, parseLine } from "./log/line.ts";
import { Log } from "./log/log.ts";
import type { Place } from "./log/place.ts";
import { readTail } from "./log/recover.ts";
import { migrate } from "./migrate.ts";
import { Reader } from "./reader.ts";
import { MIGRATIONS } from "./schema.ts";
import { FileStore } from "./sqlite-store.ts";
import { Unindexed } from "./unindexed.ts";

export type { LogFile, LogFolder, ReadableLogFile, ReadableLogFolder, StoreTime };

const NAME = "over a log";

/** How a store over a log is opened. */
export interface OverLogOptions {
  /** What is laid out for each segment. */
  readonly segmentBytes: number;
  readonly time: StoreTime;
}

/**
 * Opens a store whose log is in this folder. Its index is in memory: opening it reads the whole log, no
 * segment is sealed, and it stores no blobs. Everything else is the store of `openSqliteStore`.
 */
export async function openStoreOverLog(
  folder: LogFolder,
  { segmentBytes, time }: OverLogOptions,
): Promise<Store> {
  const database = new DatabaseSync(":memory:");
  try {
    migrate(database, MIGRATIONS);
    const reader = new Reader(database, folder);
    const place = reader.place();
    const unindexed = new Unindexed();
    const log = await Log.open(
      folder,
      place,
      ({ body, number }) => {
        for (const { text } of linesOf(body)) unindexed.add(number, parseLine(text));
      },
      { segmentBytes: () => segmentBytes },
    );
    const indexer = new IndexOnDemand(database, folder, place, (frame) => unindexed.drop(frame));
    indexer.follow(log.place);
    const parts = { path: NAME, database, reader, log, unindexed, indexer, time };
    return new FileStore({ ...parts, blobs: undefined, disown: () => undefined });
  } catch (error) {
    database.close();
    throw failureOf(error, NAME);
  }
}

/** An index that is written when a listing waits for it: until then, everything is looked up in memory. */
class IndexOnDemand implements IndexFollower {
  readonly #writer: IndexWriter;
  readonly #folder: LogFolder;
  readonly #onIndexed: (frame: number) => void;
  #place: Place;
  #until: Place;

  constructor(
    database: DatabaseSync,
    folder: LogFolder,
    place: Place,
    onIndexed: (frame: number) => void,
  ) {
    this.#writer = new IndexWriter(database);
    this.#folder = folder;
    this.#onIndexed = onIndexed;
    this.#place = place;
    this.#until = place;
  }

  follow(until: Place): void {
    this.#until = until;
  }

  async caughtUp(): Promise<void> {
    const until = this.#until;
    if (this.#place.frame >= until.frame) return;
    this.#writer.transaction(() =>
      readTail(
        this.#folder,
        this.#place,
        (frame, { segment }) => this.#writer.write(frame, segment),
        until,
      ),
    );
    this.#place = until;
    this.#onIndexed(until.frame);
  }

  async ready(): Promise<void> {}

  async close(): Promise<void> {}
}
