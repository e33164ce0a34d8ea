/// <reference types="node" />
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { WaybillError } from "@waybill/protocol";

/**
 * Makes the folder and those above it, each for its owner alone; one that is there stays as it is.
 * One at a time: `recursive` never ends where a file system, such as /proc, takes no folders.
 */
export function makeFolder(folder: string): void {
  const path = resolve(folder);
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
    syncFolder(dirname(path));
  } catch (cause) {
    // Another process may have made it meanwhile.
    if (existsSync(path)) return;
    throw new WaybillError(
      403,
      `The folder ${path} can't be created: ${WHY[(cause as NodeJS.ErrnoException).code ?? ""] ?? (cause as Error).message}. Choose another place, or create the folder yourself.`,
      { cause },
    );
  }
}

/**
 * Returns when the names in a folder are on the disk: a file that was synced can still be gone after a
 * power loss as long as its name is not there.
 */
export function syncFolder(folder: string): void {
  // Windows opens no folders, and keeps names by itself.
  if (process.platform === "win32") return;
  const open = openSync(folder, "r");
  try {
    fsyncSync(open);
  } finally {
    closeSync(open);
  }
}

const WHY: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOENT: "this file system does not allow folders there",
  ENOTDIR: "a part of its path is a file",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
};
