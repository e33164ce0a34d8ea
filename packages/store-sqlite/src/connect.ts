/// <reference types="node" />
import type { DatabaseSync } from "node:sqlite";

/** Pages of the file that a connection caches. */
const CACHE_KIB = 16 * 1024;
/** In the unit of SQLite: memory mapped at most. */
const PAGES_MAX = 0xffff_fffe;

/** Settings of every connection that are not stored in the file. */
export function connect(database: DatabaseSync, busyTimeoutMs: number, bytesMax: number): void {
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  database.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
  // What a power loss takes from the index is in the log; what is left of it is consistent.
  database.exec(`PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${CACHE_KIB}`);
  const pageSize = Number(database.prepare("PRAGMA page_size").get()!["page_size"]);
  const pagesMax = Math.floor(bytesMax / pageSize);
  database.exec(`PRAGMA max_page_count = ${Math.min(pagesMax, PAGES_MAX)}`);
}
