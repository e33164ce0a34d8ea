/// <reference types="node" />
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { ledgerEntries, readLedger } from "@waybill/hub";
import type { LedgerEntry } from "@waybill/hub";
import { openSqliteReader } from "@waybill/store-sqlite";
import { unreadable } from "./read-text.ts";

const SQLITE_MAGIC = "SQLite format 3\0";

/** The entries of a ledger in a file: an export, or a hub's database, whether or not the hub runs. */
export async function* entriesOf(path: string, after = 0): AsyncGenerator<LedgerEntry> {
  if (path === "-") yield* readLedger(process.stdin);
  else if (await isDatabase(path)) yield* storedEntries(path, after);
  else yield* readLedger(createReadStream(path));
}

async function* storedEntries(path: string, after: number): AsyncGenerator<LedgerEntry> {
  const reader = await openSqliteReader(path);
  try {
    yield* ledgerEntries(reader, after);
  } finally {
    await reader.close();
  }
}

async function isDatabase(path: string): Promise<boolean> {
  try {
    const file = await open(path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
      return buffer.subarray(0, bytesRead).toString("latin1") === SQLITE_MAGIC;
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw unreadable(path, cause);
  }
}
