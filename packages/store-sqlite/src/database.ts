/// <reference types="node" />
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { chainHash, EMPTY_LEDGER } from "@waybill/hub/store";
import type { LedgerHead } from "@waybill/hub";
import { connect } from "./connect.ts";
import { damaged } from "./failure.ts";
import { makePrivate } from "./private-file.ts";
import { identify, migrate } from "./migrate.ts";
import { entryOf, ENTRY_COLUMNS } from "./row.ts";
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
    // Data of a crashed process may be readable and yet not on disk: this syncs it.
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    checkTail(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export function ledgerHeadOf(database: DatabaseSync): LedgerHead {
  const last = database
    .prepare("SELECT sequence, hash FROM ledger ORDER BY sequence DESC LIMIT 1")
    .get() as LedgerHead | undefined;
  return last === undefined ? EMPTY_LEDGER : { sequence: last.sequence, hash: last.hash };
}

/** Whether the last entries form a chain; `verifyLedger` checks the whole ledger. */
function checkTail(database: DatabaseSync, path: string): void {
  const rows = database
    .prepare(`SELECT ${ENTRY_COLUMNS} FROM ledger ORDER BY sequence DESC LIMIT ?`)
    .all(TAIL);
  const entries = rows.map(entryOf).reverse();
  const [first] = entries;
  let head = first?.sequence === 1 ? EMPTY_LEDGER : undefined;
  for (const entry of entries) {
    const follows =
      head === undefined ||
      (entry.sequence === head.sequence + 1 && chainHash(head.hash, entry) === entry.hash);
    if (!follows) throw damaged(path, `entry ${entry.sequence} of the ledger does not follow`);
    head = entry;
  }
}
