/// <reference types="node" />
import type * as Fs from "node:fs";
import type * as Path from "node:path";

/** The file operations that the key store needs. */
export interface Files {
  readonly fs: typeof Fs;
  readonly path: typeof Path;
}

/**
 * The file system, if the runtime has one. It is taken from `process` and not imported, so that
 * bundles for browsers and edge runtimes need no stand-in.
 */
export function files(): Files | undefined {
  const builtin = globalThis.process?.getBuiltinModule;
  if (builtin === undefined) return undefined;
  const fs = builtin("node:fs");
  const path = builtin("node:path");
  return fs === undefined || path === undefined ? undefined : { fs, path };
}

/** Syncs a folder: a synced file can still be lost in a power failure until its name is on disk. */
export async function syncFolder(folder: string, { fs }: Pick<Files, "fs">): Promise<void> {
  // Windows opens no folders, and syncs names by itself.
  if (process.platform === "win32") return;
  const open = await fs.promises.open(folder, fs.constants.O_RDONLY);
  try {
    await open.sync();
  } finally {
    await open.close();
  }
}
