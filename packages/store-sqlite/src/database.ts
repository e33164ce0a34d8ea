/// <reference types="node" />
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { chainHash, EMPTY_LEDGER } from "@waybill/hub/store";
import { connect } from "./connect.ts";
import { makePrivate } from "./private-file.ts";
import type { Place } from "./log/place.ts";
import { identify, migrate } from "./migrate.ts";
import type { Reader } from "./reader.ts";
import { MIGRATIONS } from "./schema.ts";

/** How many of the last entries are checked when a store is opened. */
const TAIL = 100;

/** The canonical path of a file, whatever links lead to it: the owner's lock depends on the path. */
export function filePath(path: string): string {
  const absolute = resolve(path);
  if (existsSync(absolute)) return realpathSync(absolute);
  const folder = dirname(absolute);
  return existsSync(folder) ? join(realpathSync(folder), basename(absolute)) : absolute;
}

/**
 * Opens the file for its owner: creates or migrates it if necessary, and checks where crashes leave
 * traces.
 */
export function openDatabase(path: string, busyTimeoutMs: number, bytesMax: number): DatabaseSync {
  makePrivate(path);
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    identify(database, path, MIGRATIONS.length);
    database.exec("PRAGMA journal_mode = WAL");
    connect(database, busyTimeoutMs, bytesMax);
    migrate(database, MIGRATIONS);
    // The log is of no use without its index: this puts it on disk before anything is committed.
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Whether the last entries form a chain; `verifyLedger` checks the whole ledger. */
export function checkTail(reader: Reader, { head: { sequence: last, hash } }: Place): void {
  const first = Math.max(1, last - TAIL + 1);
  let before = first === 1 ? EMPTY_LEDGER.hash : undefined;
  for (let sequence = first; sequence <= last; sequence++) {
    const entry = reader.entry(sequence);
    const isLinked = before === undefined || chainHash(before, entry) === entry.hash;
    if (!isLinked || (sequence === last && entry.hash !== hash)) throw new BrokenChain(sequence);
    before = entry.hash;
  }
}

/** An entry that does not follow the one before. */
export class BrokenChain extends Error {
  constructor(sequence: number) {
    super(`entry ${sequence} of the ledger does not follow`);
  }
}
