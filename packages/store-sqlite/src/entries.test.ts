/// <reference types="node" />
import { DatabaseSync } from "node:sqlite";
import { digestOf } from "@waybill/protocol";
import { expect, test } from "vitest";
import { Entries } from "./entries.ts";
import { FileFolder } from "./log/file-folder.ts";
import { logFolderOf } from "./log-folder.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { locate, remove } from "./store-fixture.ts";

/** Reads the last entry of a frame twice; returns how often its log is read for that. */
async function readTwice(...contents: readonly string[]): Promise<number> {
  const path = await locate();
  const store = await openSqliteStore(path);
  const type = "decision";
  const entries = contents.map(
    (content) =>
      ({
        at: 1,
        handoffId: null,
        type,
        content,
        digest: digestOf(content),
        replayKey: null,
      }) as const,
  );
  await store.commit([{ handoff: null, entries }]);
  await store.ledger({ limit: 1 });
  const folder = new FileFolder(logFolderOf(path), true);
  let reads = 0;
  const database = new DatabaseSync(path, { readOnly: true });
  const read = new Entries(database, {
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
  for (let time = 0; time < 2; time++) {
    expect(read.at(contents.length).content === contents.at(-1)).toBe(true);
  }
  read.close();
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

test("a large entry is found behind small ones of its block", async () => {
  expect(await readTwice("small", "other", "large".repeat(300_000))).toBeGreaterThan(40);
});
