/// <reference types="node" />
import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Returns when the contents of a file are on disk. */
export function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Returns when a file's name, or its removal, is on disk: syncing the file does not do that. */
export function syncName(path: string): void {
  // Windows opens no folders, and syncs names by itself.
  if (process.platform !== "win32") syncFile(dirname(path));
}
