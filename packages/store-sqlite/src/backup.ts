/// <reference types="node" />
import { existsSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { WaybillError } from "@waybill/protocol";
import { copyBlobs, removeBlobs } from "./copy-blobs.ts";
import type { CopiedBlobs } from "./copy-blobs.ts";
import { failureOf } from "./failure.ts";
import { blobFolderOf } from "./file-blobs.ts";
import { makePrivate } from "./private-file.ts";
import { syncFile, syncName } from "./sync.ts";

// In a thread of its own, so that a hub goes on while gigabytes are copied. SQLite's backup is a
// snapshot that later commits do not disturb.
const COPY = `
  const { workerData } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(workerData.from, { readOnly: true });
  database.prepare("VACUUM INTO ?").run(workerData.to);
  database.close();
`;

/**
 * Writes a copy, readable by its owner only, that appears complete or not at all: it has another name
 * until it is on disk.
 */
export async function backUp(from: string, path: string): Promise<void> {
  const to = resolve(path);
  const inTheWay = [to, blobFolderOf(to)].find((each) => existsSync(each));
  if (inTheWay !== undefined) {
    throw new WaybillError(
      400,
      `${inTheWay} already exists, and a backup never overwrites a file. Choose a new path, or move the old file away.`,
    );
  }
  const part = `${to}.part`;
  const blobs = { from: blobFolderOf(from), part: blobFolderOf(part), to: blobFolderOf(to) };
  rmSync(part, { force: true });
  await removeBlobs(blobs.part);
  try {
    const copied: CopiedBlobs = new Map();
    await copyBlobs(blobs.from, blobs.part, copied);
    // SQLite copies into an existing file if that is empty.
    makePrivate(part);
    await run(new Worker(COPY, { eval: true, workerData: { from, to: part } }));
    await copyBlobs(blobs.from, blobs.part, copied);
    syncFile(part);
    // A folder without its database is no backup: the database goes last.
    if (copied.size > 0) renameSync(blobs.part, blobs.to);
    renameSync(part, to);
    syncName(to);
  } catch (error) {
    rmSync(part, { force: true });
    await removeBlobs(blobs.part);
    throw failureOf(error, to);
  }
}

function run(worker: Worker): Promise<void> {
  return new Promise((resolved, rejected) => {
    worker.once("error", rejected);
    worker.once("exit", () => resolved());
  });
}
