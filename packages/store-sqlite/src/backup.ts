/// <reference types="node" />
import { existsSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { WaybillError } from "@waybill/protocol";
import { copyBlobs, removeBlobs } from "./copy-blobs.ts";
import type { CopiedBlobs } from "./copy-blobs.ts";
import { HeldLog, removeLog } from "./copy-log.ts";
import { failureOf } from "./failure.ts";
import { blobFolderOf } from "./file-blobs.ts";
import { logFolderOf } from "./log-folder.ts";
import type { Place } from "./log/place.ts";
import { LOG_SINCE, placeOf } from "./begin-log.ts";
import { numberOf } from "./migrate.ts";
import { makePrivate } from "./private-file.ts";
import { syncFile, syncName } from "./sync.ts";

// In a thread of its own, so that a hub goes on while gigabytes are copied. SQLite's backup is a
// snapshot that later commits do not disturb. The log is copied after it, and opening the copy indexes
// what was committed in between.
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
  const inTheWay = [to, blobFolderOf(to), logFolderOf(to)].find((each) => existsSync(each));
  if (inTheWay !== undefined) {
    throw new WaybillError(
      400,
      `${inTheWay} already exists, and a backup never overwrites a file. Choose a new path, or move the old file away.`,
    );
  }
  const part = `${to}.part`;
  const blobs = { from: blobFolderOf(from), part: blobFolderOf(part), to: blobFolderOf(to) };
  const log = { from: logFolderOf(from), part: logFolderOf(part), to: logFolderOf(to) };
  rmSync(part, { force: true });
  await removeBlobs(blobs.part);
  await removeLog(log.part);
  const held = new HeldLog(log.from);
  try {
    const copied: CopiedBlobs = new Map();
    await copyBlobs(blobs.from, blobs.part, copied);
    // SQLite copies into an existing file if that is empty.
    makePrivate(part);
    await run(new Worker(COPY, { eval: true, workerData: { from, to: part } }));
    const place = placeIn(part);
    if (place !== undefined) await held.copy(log.part, place);
    await copyBlobs(blobs.from, blobs.part, copied);
    syncFile(part);
    // A folder without its database is no backup: the database goes last.
    if (existsSync(log.part)) renameSync(log.part, log.to);
    if (copied.size > 0) renameSync(blobs.part, blobs.to);
    renameSync(part, to);
    syncName(to);
  } catch (error) {
    rmSync(part, { force: true });
    await removeBlobs(blobs.part);
    await removeLog(log.part);
    throw failureOf(error, to);
  } finally {
    held.close();
  }
}

/** Where the index of a copy goes; undefined for a store of a release that had no log. */
function placeIn(path: string): Place | undefined {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    if (numberOf(database, "user_version") < LOG_SINCE) return undefined;
    return placeOf(database);
  } finally {
    database.close();
  }
}

function run(worker: Worker): Promise<void> {
  return new Promise((resolved, rejected) => {
    worker.once("error", rejected);
    worker.once("exit", () => resolved());
  });
}
