/// <reference types="node" />
import { DatabaseSync } from "node:sqlite";
import { WaybillError } from "@waybill/protocol";
import { numberOf } from "./migrate.ts";
import { makePrivate } from "./private-file.ts";

const BUSY = 5;

/**
 * Makes this process the owner of a store until it ends, in any way: it holds a write lock of the
 * system on a small file beside the store. Readers of the store itself are not locked out. The file
 * names the owner.
 */
export function acquireOwnership(path: string, busyTimeoutMs: number): () => void {
  makePrivate(`${path}-owner`);
  const database = new DatabaseSync(`${path}-owner`);
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    database.exec(`PRAGMA user_version = ${process.pid}`);
    database.exec("BEGIN IMMEDIATE");
    return () => database.close();
  } catch (error) {
    const isOwned = ((error as { errcode?: number }).errcode ?? 0) === BUSY;
    const owner = isOwned ? numberOf(database, "user_version") : 0;
    database.close();
    if (!isOwned) throw error;
    const whose = owner === process.pid ? "this process already" : `process ${owner}`;
    throw new WaybillError(
      503,
      `The store ${path} is open in ${whose}, and a store has one owner. Stop that hub, or name another path.`,
      { cause: error, retryable: true },
    );
  }
}
