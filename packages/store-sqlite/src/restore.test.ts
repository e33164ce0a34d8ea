/// <reference types="node" />
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { verifyLedger } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { digestOf } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { blobFolderOf } from "./file-blobs.ts";
import { restoreSqliteStore } from "./restore.ts";
import { openSqliteReader } from "./sqlite-reader.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { locate, remove } from "./store-fixture.ts";
import { commitOne } from "@waybill/hub/store";

const BACKUP = ["one"];
const BEFORE = ["one", "two", "three"];

let path: string;
let backup: string;
let old: string;

/** A store whose hub was killed after two commits, and a backup from before them. */
beforeEach(async () => {
  path = await locate();
  [backup, old] = [`${path}.copy`, `${path}.old`];
  const running = `${path}.running`;
  const store = await openSqliteStore(running);
  await note(store, "one");
  await store.backup(backup);
  await note(store, "two");
  await note(store, "three");
  for (const ending of ["", "-wal", "-shm"]) copyFileSync(running + ending, path + ending);
  cpSync(`${running}-log`, `${path}-log`, { recursive: true });
  await store.close();
  for (const ending of ["", "-owner", "-log"]) rmSync(running + ending, { recursive: true });
});
afterEach(() => remove(path));

async function note(store: Store, content: string): Promise<void> {
  const entry = { at: 0, handoffId: null, type: "decision", content, replayKey: null } as const;
  await commitOne(store, { handoff: null, entries: [{ ...entry, digest: digestOf(content) }] });
}

/** Opens the store as a hub does, checks it, and commits to it. */
async function contents(file: string): Promise<string[]> {
  const store = await openSqliteStore(file);
  try {
    await store.check();
    const entries = await store.ledger({ limit: 100 });
    expect((await verifyLedger(entries)).holds).toBe(true);
    return entries.map(({ content }) => content);
  } finally {
    await store.close();
  }
}

/** The checked backup, as a restore stages it. */
function stage(): void {
  for (const ending of ["", "-log"]) {
    cpSync(backup + ending, `${path}.restored${ending}`, { recursive: true });
  }
}

function left(): string[] {
  return readdirSync(dirname(path)).filter((name) => /\.(restor|part)/.test(name));
}

test("the store of a killed hub is moved away with its log", async () => {
  await restoreSqliteStore(backup, path, { moveTo: old });
  expect(await contents(path)).toEqual(BACKUP);
  expect(await contents(old)).toEqual(BEFORE);
  expect(left()).toEqual([]);
});

test("a restore into an empty place that was killed is finished by the next process", async () => {
  for (const ending of ["", "-wal", "-shm", "-log"]) rmSync(path + ending, { recursive: true });
  stage();
  writeFileSync(`${path}.restore`, "null");
  renameSync(`${path}.restored`, path);
  expect(await contents(path)).toEqual(BACKUP);
  expect(left()).toEqual([]);
});

test("a log without its database is moved away too, and never read into the restored store", async () => {
  rmSync(path);
  await expect(restoreSqliteStore(backup, path)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining(`${path}-wal`),
  });
  await restoreSqliteStore(backup, path, { moveTo: old });
  expect(await contents(path)).toEqual(BACKUP);
  expect(existsSync(`${old}-wal`)).toBe(true);
});

test("leftovers of a killed restore are never read into the next one", async () => {
  for (const ending of ["", "-wal", "-shm", "-log"]) {
    cpSync(path + ending, `${path}.restoring${ending}`, { recursive: true });
  }
  await restoreSqliteStore(backup, path, { moveTo: old });
  expect(await contents(path)).toEqual(BACKUP);
  expect(await contents(old)).toEqual(BEFORE);
  expect(left()).toEqual([]);
});

test("nothing is moved beside an existing log, which would be read into it", async () => {
  writeFileSync(`${old}-wal`, "the log of another database");
  await expect(restoreSqliteStore(backup, path, { moveTo: old })).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining(`${old}-wal`),
  });
  expect(await contents(path)).toEqual(BEFORE);
});

test("nothing is changed if the store can't be moved in one step", async ({ skip }) => {
  skip(!existsSync("/dev/shm"), "no second volume on this machine");
  const moveTo = `/dev/shm/${basename(dirname(path))}.db`;
  await expect(restoreSqliteStore(backup, path, { moveTo })).rejects.toMatchObject({ status: 400 });
  expect(await contents(path)).toEqual(BEFORE);
});

// Where a restore may be killed: the files that it has moved by then.
test.each([[[]], [[""]], [["", "-wal"]], [["", "-wal", "-log"]]])(
  "a restore that was killed after it had moved %j is finished by the next process that opens the store",
  async (moved) => {
    stage();
    writeFileSync(`${path}.restore`, JSON.stringify(old));
    for (const ending of moved) renameSync(path + ending, old + ending);
    if (existsSync(path)) {
      await expect(openSqliteReader(path)).rejects.toMatchObject({ status: 503 });
    }
    expect(await contents(path)).toEqual(BACKUP);
    expect(await contents(old)).toEqual(BEFORE);
    expect(left()).toEqual([]);
  },
);

// The same with blobs: the files and folders that it has moved by then, in order.
const BLOB_STEPS = [
  ["", ".old"],
  ["-wal", ".old-wal"],
  ["-log", ".old-log"],
  ["-blobs", ".old-blobs"],
  [".restored", ""],
  [".restored-log", "-log"],
  [".restored-blobs", "-blobs"],
] as const;
test.each(Array.from({ length: BLOB_STEPS.length + 1 }, (_, count) => [count]))(
  "blobs go with their database if a restore is killed after %i steps",
  async (count) => {
    stage();
    for (const [file, text] of [
      [path, "before"],
      [`${path}.restored`, "restored"],
    ] as const) {
      mkdirSync(blobFolderOf(file));
      writeFileSync(join(blobFolderOf(file), "which"), text);
    }
    writeFileSync(`${path}.restore`, JSON.stringify(old));
    for (const [from, to] of BLOB_STEPS.slice(0, count)) renameSync(path + from, path + to);
    expect(await contents(path)).toEqual(BACKUP);
    expect(readFileSync(join(blobFolderOf(path), "which"), "utf8")).toBe("restored");
    expect(readFileSync(join(blobFolderOf(old), "which"), "utf8")).toBe("before");
    expect(left()).toEqual([]);
  },
);

test("a restore of which only the plan is left is complete", async () => {
  await restoreSqliteStore(backup, path, { moveTo: old });
  writeFileSync(`${path}.restore`, JSON.stringify(`${path}.another`));
  expect(await contents(path)).toEqual(BACKUP);
  expect(existsSync(`${path}.another`)).toBe(false);
  expect(left()).toEqual([]);
});

test("no store is created beside a log with the commits of a lost database", async () => {
  for (const loses of [() => rmSync(path), () => writeFileSync(path, "")]) {
    loses();
    await expect(openSqliteStore(path)).rejects.toMatchObject({
      status: 500,
      message: expect.stringContaining("missing or empty"),
    });
    expect(existsSync(`${path}-wal`)).toBe(true);
  }
});
