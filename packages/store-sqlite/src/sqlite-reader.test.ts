/// <reference types="node" />
import { existsSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { exportLedger, ledgerEntries, verifyLedger } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { digestOf } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { restoreSqliteStore } from "./restore.ts";
import { openSqliteReader } from "./sqlite-reader.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { locate, remove } from "./store-fixture.ts";
import { commitOne } from "@waybill/hub/store";

let path: string;
beforeEach(async () => {
  path = await locate();
});
afterEach(() => remove(path));

async function note(store: Store, content: string): Promise<void> {
  const digest = digestOf(content);
  const entry = { at: 0, handoffId: null, type: "decision", content, digest, replayKey: null };
  await commitOne(store, { handoff: null, entries: [{ ...entry, type: "decision" }] });
}

async function contents(file: string): Promise<string[]> {
  const reader = await openSqliteReader(file);
  try {
    const entries = await reader.ledger({ limit: 100 });
    expect((await verifyLedger(entries)).holds).toBe(true);
    return entries.map(({ content }) => content);
  } finally {
    await reader.close();
  }
}

test("a store is read, checked and copied while its owner writes to it", async () => {
  const store = await openSqliteStore(path);
  await note(store, "one");
  const reader = await openSqliteReader(path);
  await note(store, "two");
  expect((await reader.ledger({ limit: 10 })).map(({ content }) => content)).toEqual([
    "one",
    "two",
  ]);
  expect(await reader.ledgerHead()).toEqual(await store.ledgerHead());
  await reader.check();
  await reader.backup(`${path}.copy`);
  await note(store, "three");
  await reader.close();
  expect(await Array.fromAsync(exportLedger(store))).toHaveLength(3);
  expect(await Array.fromAsync(ledgerEntries(store))).toHaveLength(3);
  await store.close();
  expect(await contents(`${path}.copy`)).toEqual(["one", "two"]);
  expect(await contents(path)).toEqual(["one", "two", "three"]);
});

test("reading a missing store does not create it", async () => {
  await expect(openSqliteReader(path)).rejects.toMatchObject({ status: 404 });
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, "not a database, whatever its name says".repeat(100));
  await expect(openSqliteReader(path)).rejects.toMatchObject({ status: 500 });
});

test("a store of an older release is reported as such, and unchanged", async () => {
  await (await openSqliteStore(path)).close();
  const older = new DatabaseSync(path);
  older.exec("PRAGMA user_version = 0");
  older.close();
  await expect(openSqliteReader(path)).rejects.toMatchObject({
    message: expect.stringContaining("older release"),
  });
});

test("a backup replaces a store, which is kept, with its log", async () => {
  const store = await openSqliteStore(path);
  await note(store, "one");
  await store.backup(`${path}.copy`);
  await note(store, "two");
  await expect(
    restoreSqliteStore(`${path}.copy`, path, { moveTo: `${path}.old` }),
  ).rejects.toMatchObject({ status: 503, message: expect.stringContaining("one owner") });
  await store.close();
  await expect(restoreSqliteStore(`${path}.none`, path)).rejects.toMatchObject({ status: 404 });
  await expect(restoreSqliteStore(`${path}.copy`, path)).rejects.toMatchObject({ status: 409 });
  expect(await contents(path)).toEqual(["one", "two"]);
  await restoreSqliteStore(`${path}.copy`, path, { moveTo: `${path}.old` });
  expect(await contents(path)).toEqual(["one"]);
  expect(await contents(`${path}.old`)).toEqual(["one", "two"]);
  const again = await openSqliteStore(path);
  await note(again, "another");
  await again.close();
  expect(await contents(path)).toEqual(["one", "another"]);
});

test("a damaged backup is refused before anything is moved", async () => {
  const store = await openSqliteStore(path);
  for (let number = 0; number < 50; number++) await note(store, "x".repeat(1000) + number);
  await store.backup(`${path}.copy`);
  await store.close();
  truncateSync(`${path}.copy`, statSync(`${path}.copy`).size - 8192);
  await expect(
    restoreSqliteStore(`${path}.copy`, path, { moveTo: `${path}.old` }),
  ).rejects.toMatchObject({ status: 500, message: expect.stringContaining("damaged") });
  expect(readdirSync(dirname(path)).toSorted()).toEqual([
    "hub.db",
    "hub.db-log",
    "hub.db-owner",
    "hub.db.copy",
    "hub.db.copy-log",
  ]);
  expect(await contents(path)).toHaveLength(50);
});
