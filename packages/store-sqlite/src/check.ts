/// <reference types="node" />
import type { DatabaseSync } from "node:sqlite";
import { damaged } from "./failure.ts";

/** Reads every page and index, and throws if anything is damaged. */
export function checkPages(database: DatabaseSync, path: string): void {
  const faults = database.prepare("PRAGMA quick_check(5)").all();
  const found = faults.flatMap((row) => Object.values(row)).filter((text) => text !== "ok");
  if (found.length > 0) throw damaged(path, `SQLite says ${found.join("; ")}`);
}
