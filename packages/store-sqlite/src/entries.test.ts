/// <reference types="node" />
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { NewEntry } from "@waybill/hub/store";
import { digestOf } from "@waybill/protocol";
import { expect, test, vi } from "vitest";
import { Entries } from "./entries.ts";
import type { ReadableLogFolder } from "./log/disk.ts";
import { FileFolder } from "./log/file-folder.ts";
import { logFolderOf } from "./log-folder.ts";
import { segmentName } from "./log/segment.ts";
import { Reader } from "./reader.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { locate, remove } from "./store-fixture.ts";

/** How often a log was read, and how many bytes of it. */
interface Count {
  reads: number;
  bytes: number;
}

/** The log of a store, which counts what is read of it. */
function countedLog(path: string, count: Count): ReadableLogFolder {
  const folder = new FileFolder(logFolderOf(path), true);
  return {
    names: () => folder.names(),
    open(name) {
      const file = folder.open(name);
      return {
        size: () => file.size(),
        read(position, length, into) {
          count.reads++;
          count.bytes += length;
          return file.read(position, length, into);
        },
        close: () => file.close(),
      };
    },
  };
}

function entryOf(content: string, handoffId: string | null = null): NewEntry {
  const type = handoffId === null ? "decision" : "envelope";
  return { at: 1, handoffId, type, content, digest: digestOf(content), replayKey: null };
}

/** Reads the last entry of a frame twice; returns how often its log is read for that. */
async function readTwice(...contents: readonly string[]): Promise<number> {
  const path = await locate();
  const store = await openSqliteStore(path);
  const entries = contents.map((content) => entryOf(content));
  await store.commit([{ handoff: null, entries }]);
  await store.ledger({ limit: 1 });
  const count = { reads: 0, bytes: 0 };
  const database = new DatabaseSync(path, { readOnly: true });
  const read = new Entries(database, countedLog(path, count));
  for (let time = 0; time < 2; time++) {
    expect(read.at(contents.length).content === contents.at(-1)).toBe(true);
  }
  read.close();
  database.close();
  await store.close();
  await remove(path);
  return count.reads;
}

test("an entry that was read lately is read from memory", async () => {
  expect(await readTwice("small")).toBe(1);
});

test("a large entry is not kept in memory", async () => {
  expect(await readTwice("large".repeat(300_000))).toBe(2);
});

test("a large entry is found behind small ones of its block", async () => {
  expect(await readTwice("small", "other", "large".repeat(300_000))).toBe(2);
});

test("an envelope is found without reading the others of its handoff", async () => {
  const path = await locate();
  const store = await openSqliteStore(path);
  const large = Array.from({ length: 20 }, (_, index) => `${index} `.repeat(100_000));
  await store.commit([{ handoff: null, entries: large.map((text) => entryOf(text, "one")) }]);
  await store.ledger({ limit: 1 });
  const count = { reads: 0, bytes: 0 };
  const database = new DatabaseSync(path, { readOnly: true });
  const reader = new Reader(database, countedLog(path, count));
  for (const content of [large[0]!, large.at(-1)!]) {
    count.bytes = 0;
    expect(reader.envelope("one", digestOf(content))?.content === content).toBe(true);
    expect(count.bytes).toBeLessThan(2 * content.length);
  }
  expect(reader.envelope("one", digestOf("another"))).toBeUndefined();
  reader.close();
  database.close();
  await store.close();
  await remove(path);
});

test("an entry of a sealed segment is read with its block, even if the index does not know where that is", async () => {
  const path = await locate();
  const store = await openSqliteStore(path);
  const texts: string[] = [];
  const isSealed = (number: number) =>
    existsSync(join(logFolderOf(path), segmentName(number, true))) &&
    !existsSync(join(logFolderOf(path), segmentName(number)));
  // Of random text, so that a block is a good part of its segment.
  while (!existsSync(join(logFolderOf(path), segmentName(6)))) {
    texts.push(randomBytes(3_000).toString("hex"));
    await store.commit([{ handoff: null, entries: [entryOf(texts.at(-1)!)] }]);
  }
  await vi.waitFor(() => expect([3, 4].every(isSealed)).toBe(true), { timeout: 60_000 });
  await store.close();
  const count = { reads: 0, bytes: 0 };
  const database = new DatabaseSync(path);
  const segments = database
    .prepare("SELECT max(sequence) AS last FROM block WHERE segment IN (3, 4) GROUP BY segment")
    .all() as { last: number }[];
  expect(segments).toHaveLength(2);
  const readAll = () => {
    const entries = new Entries(database, countedLog(path, count));
    count.bytes = 0;
    // Of blocks that are not in memory: each is read once.
    for (const { last } of segments) expect(entries.at(last).content).toBe(texts[last - 1]);
    for (const { last } of segments) expect(entries.at(last - 30).content).toBe(texts[last - 31]);
    entries.close();
    return count.bytes;
  };
  expect(readAll()).toBeLessThan(4 * 64 * 1024);
  database.exec("UPDATE block SET position = position + 1 WHERE segment IN (3, 4)");
  expect(readAll()).toBeGreaterThan(4 * 64 * 1024);
  database.close();
  await remove(path);
}, 60_000);
