/// <reference types="node" />
import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { WaybillError } from "@waybill/protocol";
import { backUp } from "./backup.ts";
import { filePath } from "./database.ts";
import { removeBlobs } from "./copy-blobs.ts";
import { removeLog } from "./copy-log.ts";
import { failureOf } from "./failure.ts";
import { blobFolderOf } from "./file-blobs.ts";
import { filesAt, finishRestore, LOGS } from "./interrupted-restore.ts";
import { moveFolders, replaceStore, restoredPath } from "./interrupted-restore.ts";
import { logFolderOf } from "./log-folder.ts";
import { acquireOwnership } from "./owner.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { syncFile } from "./sync.ts";

const BUSY_TIMEOUT_MS = 0;

/** What happens to the existing store. */
export interface RestoreOptions {
  /** Where the existing store is moved; by default an existing store is an error. */
  readonly moveTo?: string | undefined;
}

/**
 * Replaces a store that no hub owns by a backup, completely or not at all. The backup is checked
 * before anything is moved, and stays where it is.
 */
export async function restoreSqliteStore(
  backup: string,
  path: string,
  { moveTo }: RestoreOptions = {},
): Promise<void> {
  const file = filePath(path);
  if (!existsSync(backup)) {
    throw new WaybillError(404, `There is no backup at ${backup}. Check the path.`);
  }
  try {
    const disown = acquireOwnership(file, BUSY_TIMEOUT_MS);
    try {
      await replace(filePath(backup), file, moveTo);
    } finally {
      disown();
    }
  } catch (error) {
    throw failureOf(error, file);
  }
}

/** Opened as its hub will open it: a backup of an older release is migrated, not refused. */
async function check(staged: string): Promise<void> {
  const store = await openSqliteStore(staged);
  try {
    await store.check();
  } finally {
    await store.close();
    rmSync(`${staged}-owner`, { force: true });
  }
}

async function replace(backup: string, file: string, moveTo: string | undefined): Promise<void> {
  finishRestore(file);
  const there = filesAt(file);
  const inTheWay = there.length > 0 && moveTo === undefined ? there[0] : occupied(file, moveTo);
  if (inTheWay !== undefined) {
    throw new WaybillError(
      409,
      `There is already a file at ${inTheWay}, and no file is ever overwritten. Name another path, or a path to move the existing store to; nothing was changed.`,
    );
  }
  if (moveTo !== undefined) checkVolume(file, moveTo);
  // Under a name that no hub opens, until it is checked.
  const staged = `${file}.restoring`;
  await removeStaged(file, staged);
  try {
    await backUp(backup, staged);
    await check(staged);
  } catch (error) {
    await removeStaged(file, staged);
    const { status, message } = WaybillError.from(error);
    throw new WaybillError(
      status,
      `The backup ${backup} can't replace ${file}, and nothing was changed. ${message.replace(staged, backup)}`,
      { cause: error },
    );
  }
  // Opening it may have migrated it to this release.
  syncFile(staged);
  moveFolders(staged, restoredPath(file));
  renameSync(staged, restoredPath(file));
  replaceStore(file, moveTo ?? null);
}

/** Files at the target of the move: an old log would destroy the store as much as a file in its place. */
function occupied(file: string, moveTo: string | undefined): string | undefined {
  if (moveTo === undefined) return undefined;
  return moveTo === file ? file : filesAt(moveTo)[0];
}

/** A file can't be moved to another volume in one step. */
function checkVolume(file: string, moveTo: string): void {
  const [from, to] = [file, moveTo].map((path) => statSync(dirname(path)).dev);
  if (from === to) return;
  throw new WaybillError(
    400,
    `${moveTo} is on another volume than ${file}, and a store can't be moved across volumes atomically. Name a path on the same volume; nothing was changed.`,
  );
}

/** Leftovers of an earlier restore that has not begun to move files. */
async function removeStaged(file: string, staged: string): Promise<void> {
  removeDatabase(staged);
  for (const each of [staged, restoredPath(file)]) {
    await removeBlobs(blobFolderOf(each));
    await removeLog(logFolderOf(each));
  }
}

/** A log that was left beside another database of this name would be read into the next one. */
function removeDatabase(path: string): void {
  for (const ending of ["", ...LOGS, "-shm", "-owner"]) rmSync(path + ending, { force: true });
}
