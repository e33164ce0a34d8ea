/// <reference types="node" />
export { openSqliteStore } from "./sqlite-store.ts";
export type { SqliteStore, SqliteStoreOptions } from "./sqlite-store.ts";
export { openSqliteReader } from "./sqlite-reader.ts";
export type { SqliteReader } from "./sqlite-reader.ts";
export { restoreSqliteStore } from "./restore.ts";
export type { RestoreOptions } from "./restore.ts";
