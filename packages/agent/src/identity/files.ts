/// <reference types="node" />
import type * as Fs from "node:fs";
import type * as Path from "node:path";

/** What keeps keys in files. */
export interface Files {
  readonly fs: typeof Fs;
  readonly path: typeof Path;
}

/**
 * Files, where the runtime has them. They are asked of the process and not imported, so that bundles
 * for browsers and edge runtimes need no stand-in for them.
 */
export function files(): Files | undefined {
  const builtin = globalThis.process?.getBuiltinModule;
  if (builtin === undefined) return undefined;
  const fs = builtin("node:fs");
  const path = builtin("node:path");
  return fs === undefined || path === undefined ? undefined : { fs, path };
}

/**
 * Settles when the names in a folder are on the disk: a file that was synced can still be gone after a
 * power loss as long as its name is not there.
 */
export async function syncFolder(folder: string, { fs }: Pick<Files, "fs">): Promise<void> {
  // Windows opens no folders, and keeps names by itself.
  if (process.platform === "win32") return;
  const open = await fs.promises.open(folder, fs.constants.O_RDONLY);
  try {
    await open.sync();
  } finally {
    await open.close();
  }
}
