/// <reference types="node" />
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { WaybillError } from "@waybill/protocol";
import { blobFolderOf } from "./file-blobs.ts";
import { logFolderOf } from "./log-folder.ts";
import { keepPrivate, makePrivate } from "./private-file.ts";
import { syncFile, syncName } from "./sync.ts";

/**
 * The files that SQLite keeps beside a database and reads when it opens it. They belong to one
 * database, move with it, and would destroy another one.
 */
export const LOGS = ["-wal", "-journal"] as const;

/** The checked backup, until the existing store has been moved away. */
export function restoredPath(file: string): string {
  return `${file}.restored`;
}

/** Names the target of an existing store, or null; present while that move is under way. */
function planPath(file: string): string {
  return `${file}.restore`;
}

/** Whether a restore has begun to move files and has not finished. */
export function isRestoring(file: string): boolean {
  return existsSync(planPath(file));
}

/** The folders beside a database, which move with it. */
function foldersOf(path: string): string[] {
  return [logFolderOf(path), blobFolderOf(path)];
}

/** The files at a path that hold commits or blobs. */
export function filesAt(path: string): string[] {
  const files = ["", ...LOGS].map((ending) => path + ending);
  return [...files, ...foldersOf(path)].filter((each) => existsSync(each));
}

/** Moves the folders of one database to another one. Their new names are not on disk yet. */
export function moveFolders(from: string, to: string): void {
  const targets = foldersOf(to);
  foldersOf(from).forEach((folder, index) => {
    if (existsSync(folder)) renameSync(folder, targets[index]!);
  });
}

/**
 * Moves the restored files into their place, and those of an existing store out of it. Several files have to move, so the plan
 * is written to disk first: after a crash, the next process that opens the store carries it out.
 */
export function replaceStore(file: string, moveTo: string | null): void {
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

/** Completes a restore that was interrupted. */
export function finishRestore(file: string): void {
  const plan = planPath(file);
  if (!existsSync(plan)) return;
  const restored = restoredPath(file);
  // If it is gone, it was moved already, and the file at its old place must not be moved.
  if (existsSync(restored)) {
    const moveTo = JSON.parse(readFileSync(plan, "utf8")) as string | null;
    if (moveTo !== null) moveAway(file, moveTo);
    renameSync(restored, file);
    syncName(file);
  }
  moveFolders(restored, file);
  syncName(file);
  rmSync(plan);
  syncName(plan);
}

/** Syncs both folders before another file is moved to the same place. */
function moveAway(file: string, to: string): void {
  for (const ending of ["", ...LOGS]) {
    if (!existsSync(file + ending)) continue;
    keepPrivate(file + ending);
    renameSync(file + ending, to + ending);
  }
  moveFolders(file, to);
  // SQLite rebuilds the shared memory file from the log.
  rmSync(`${file}-shm`, { force: true });
  syncName(to);
  syncName(file);
}

/**
 * Refuses to create a store where one was lost: SQLite deletes a write-ahead log that it finds beside
 * a missing or empty database, and a new database knows nothing of an old ledger.
 */
export function refuseLoneLog(file: string): void {
  if (sizeOf(file) > 0) return;
  const log = [`${file}-wal`, logFolderOf(file)].find((each) => sizeOf(each) > 0);
  if (log === undefined) return;
  throw new WaybillError(
    500,
    `The database ${file} is missing or empty, but ${log} still has commits that exist nowhere else. Put the database back beside it, or restore a backup; nothing was changed.`,
  );
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
