/// <reference types="node" />
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { WaybillError } from "@waybill/protocol";
import { blobFolderOf } from "./file-blobs.ts";
import { keepPrivate, makePrivate } from "./private-file.ts";
import { syncFile, syncName } from "./sync.ts";

/**
 * What SQLite keeps beside a database and reads when it opens it: it belongs to one file, goes with
 * it, and destroys another one that it is found beside.
 */
export const LOGS = ["-wal", "-journal"] as const;

/** The checked backup, until the store that was there has been moved away. */
export function restoredPath(file: string): string {
  return `${file}.restored`;
}

/** Says where the store that was there is moved to; there as long as that is under way. */
function planPath(file: string): string {
  return `${file}.restore`;
}

/** Whether a restore has begun to move files and has not finished. */
export function isRestoring(file: string): boolean {
  return existsSync(planPath(file));
}

/** What lies at a path and holds commits or blobs. */
export function filesAt(path: string): string[] {
  const files = ["", ...LOGS].map((ending) => path + ending);
  return [...files, blobFolderOf(path)].filter((each) => existsSync(each));
}

/**
 * Puts the restored file in the place of the one that is there. Several files have to move, so the
 * plan is on the disk first: whoever opens the store after a crash carries it out to its end.
 */
export function replaceStore(file: string, moveTo: string): void {
  const plan = planPath(file);
  const part = `${plan}.part`;
  rmSync(part, { force: true });
  makePrivate(part);
  writeFileSync(part, JSON.stringify(moveTo));
  syncFile(part);
  renameSync(part, plan);
  syncName(plan);
  finishRestore(file);
}

/** Carries out what is left of a restore that was interrupted. */
export function finishRestore(file: string): void {
  const plan = planPath(file);
  if (!existsSync(plan)) return;
  const restored = restoredPath(file);
  // Where it is gone, it is in its place already, and what lies there is not to be moved.
  if (existsSync(restored)) {
    moveAway(file, JSON.parse(readFileSync(plan, "utf8")) as string);
    renameSync(restored, file);
    syncName(file);
  }
  if (existsSync(blobFolderOf(restored))) {
    renameSync(blobFolderOf(restored), blobFolderOf(file));
    syncName(file);
  }
  rmSync(plan);
  syncName(plan);
}

/** Both folders are synced before anything else comes to lie there. */
function moveAway(file: string, to: string): void {
  for (const ending of ["", ...LOGS]) {
    if (!existsSync(file + ending)) continue;
    keepPrivate(file + ending);
    renameSync(file + ending, to + ending);
  }
  if (existsSync(blobFolderOf(file))) renameSync(blobFolderOf(file), blobFolderOf(to));
  // What is shared between processes is made anew from the log.
  rmSync(`${file}-shm`, { force: true });
  syncName(to);
  syncName(file);
}

/**
 * Refuses to make a store where one has been lost: SQLite deletes a write-ahead log that it finds
 * beside a missing or empty database, with every commit in it.
 */
export function refuseLoneLog(file: string): void {
  const log = `${file}-wal`;
  if (sizeOf(file) > 0 || sizeOf(log) === 0) return;
  throw new WaybillError(
    500,
    `The database ${file} is missing or empty, and its write-ahead log ${log} is still there with commits that are nowhere else. Put the database back beside it, or restore a backup; nothing was changed.`,
  );
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
