/// <reference types="node" />
import { constants } from "node:fs";
import { chmod, copyFile, mkdir, open, opendir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { FILE_NAME, FOLDER_FOR_OWNER, FOR_OWNER, syncFolder } from "./file-blobs.ts";

/** How a file was when it was copied, by its name. */
export type CopiedBlobs = Map<string, string>;

/**
 * Copies the files of blobs that `copied` does not have as they are now. Called before and after the copy
 * of the database, it misses none that a row in there names: what is removed meanwhile was copied before,
 * and what comes in or grows meanwhile is copied after.
 */
export async function copyBlobs(from: string, to: string, copied: CopiedBlobs): Promise<void> {
  for await (const name of namesIn(from)) {
    const source = join(from, name);
    try {
      const { size, mtimeMs } = await stat(source);
      const version = `${size} ${mtimeMs}`;
      if (copied.get(name) === version) continue;
      if (copied.size === 0) await mkdir(to, { mode: FOLDER_FOR_OWNER, recursive: true });
      await copyFile(source, join(to, name), constants.COPYFILE_FICLONE);
      await sync(join(to, name));
      copied.set(name, version);
    } catch (error) {
      // Removed since it was listed.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  if (copied.size === 0) return;
  await chmod(to, FOLDER_FOR_OWNER);
  await syncFolder(to);
}

/** Removes a copy that is not whole. */
export function removeBlobs(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

async function* namesIn(folder: string): AsyncGenerator<string> {
  try {
    for await (const { name } of await opendir(folder)) if (FILE_NAME.test(name)) yield name;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await handle.chmod(FOR_OWNER);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
