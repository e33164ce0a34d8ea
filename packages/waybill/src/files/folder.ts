/// <reference types="node" />
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { WaybillError } from "@waybill/protocol";

/**
 * Creates the folder and its missing parents, each private to its owner; existing folders stay as
 * they are. One level at a time: `recursive` never returns on a file system without folders, such as
 * /proc.
 */
export function makeFolder(folder: string): void {
  const path = resolve(folder);
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
    syncFolder(dirname(path));
  } catch (cause) {
    // Another process may have created it meanwhile.
    if (existsSync(path)) return;
    throw new WaybillError(
      403,
      `The folder ${path} can't be created: ${WHY[(cause as NodeJS.ErrnoException).code ?? ""] ?? (cause as Error).message}. Choose another place, or create the folder yourself.`,
      { cause },
    );
  }
}

/**
 * Syncs the entries of a folder to disk. Without it, a power loss can lose a file that was synced
 * itself, because its name was not yet on disk.
 */
export function syncFolder(folder: string): void {
  // Windows can't open folders, and persists names by itself.
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
