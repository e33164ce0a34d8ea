/// <reference types="node" />
import type { DatabaseSync } from "node:sqlite";

/** Ends a failed transaction; a full disk has ended it already. */
export function rollBack(database: DatabaseSync): void {
  try {
    database.exec("ROLLBACK");
  } catch (error) {
    if (!/no transaction is active/.test((error as Error).message)) throw error;
  }
}
