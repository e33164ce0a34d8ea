/// <reference types="node" />
import type { DatabaseSync } from "node:sqlite";

/** Pages of the file that a connection keeps in memory. */
const CACHE_KIB = 16 * 1024;
/** As many as SQLite counts. */
const PAGES_MAX = 0xffff_fffe;

/** What holds for every connection to a store, and is not in its file. */
export function connect(database: DatabaseSync, busyTimeoutMs: number, bytesMax: number): void {
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  database.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
  database.exec(`PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB}`);
  const pageSize = Number(database.prepare("PRAGMA page_size").get()!["page_size"]);
  const pagesMax = Math.floor(bytesMax / pageSize);
  database.exec(`PRAGMA max_page_count = ${Math.min(pagesMax, PAGES_MAX)}`);
}
