/// <reference types="node" />
import { DatabaseSync } from "node:sqlite";
import { commitOne } from "@waybill/hub/store";
import { digestOf } from "@waybill/protocol";
import { expect, test } from "vitest";
import { Entries } from "./entries.ts";
import { FileFolder } from "./log/file-folder.ts";
import { logFolderOf } from "./log-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { locate, remove } from "./store-fixture.ts";

/** A store with one entry in its log, and how often its log is read for it. */
async function readTwice(content: string): Promise<number> {
  const path = await locate();
  const store = await openSqliteStore(path);
  const digest = digestOf(content);
  const type = "decision";
  const entry = { at: 1, handoffId: null, type, content, digest, replayKey: null } as const;
  await commitOne(store, { handoff: null, entries: [entry] });
  await store.ledger({ limit: 1 });
  const folder = new FileFolder(logFolderOf(path), true);
  let reads = 0;
  const database = new DatabaseSync(path, { readOnly: true });
  const entries = new Entries(database, {
    names: () => folder.names(),
    open(name) {
      const file = folder.open(name);
      return {
        size: () => file.size(),
        read(position, length) {
          reads++;
          return file.read(position, length);
        },
        close: () => file.close(),
      };
    },
  });
  for (let time = 0; time < 2; time++) expect(entries.at(1).content).toBe(content);
  entries.close();
  database.close();
  await store.close();
  await remove(path);
  return reads;
}

test("an entry that was read lately is read from memory", async () => {
  expect(await readTwice("small")).toBe(1);
});

test("a large entry is not kept in memory, and is read in pieces", async () => {
  expect(await readTwice("large".repeat(300_000))).toBeGreaterThan(40);
});
