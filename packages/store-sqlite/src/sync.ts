/// <reference types="node" />
import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Returns when the contents of a file are on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Returns when the name of a file is on the disk, or that it is gone: syncing the file does not do that. */
export function syncName(path: string): void {
  // Windows opens no folders, and keeps names by itself.
  if (process.platform !== "win32") syncFile(dirname(path));
}
