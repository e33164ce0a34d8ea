/// <reference types="node" />
import { constants } from "node:fs";
import { copyFile, lstat, open, opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { WaybillError } from "@waybill/protocol";
import { FILE_NAME, FOR_OWNER, makeBlobFolder, syncFolder } from "./file-blobs.ts";

/** The state of a file when it was copied, by name. */
export type CopiedBlobs = Map<string, string>;

/**
 * Copies the blob files that are not in `copied`, or have changed. It is called before and after the
 * database is copied, so that no file named by the copy is missing: a file that is removed meanwhile
 * was copied before, and one that is added or grows meanwhile is copied after.
 */
export async function copyBlobs(from: string, to: string, copied: CopiedBlobs): Promise<void> {
  for await (const name of namesIn(from)) {
    const source = join(from, name);
    try {
      const status = await lstat(source);
      // The target of a link is no blob of the hub.
      if (!status.isFile()) continue;
      const version = `${status.size} ${status.mtimeMs}`;
      if (copied.get(name) === version) continue;
      if (copied.size === 0) await makeBlobFolder(to);
      await rm(join(to, name), { force: true });
      await copyFile(source, join(to, name), constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      await sync(join(to, name));
      copied.set(name, version);
    } catch (error) {
      // Removed since it was listed.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  if (copied.size === 0) return;
  await syncFolder(to);
}

/** Removes an incomplete copy. */
export function removeBlobs(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

async function* namesIn(folder: string): AsyncGenerator<string> {
  try {
    if (!(await lstat(folder)).isDirectory()) {
      throw new WaybillError(
        403,
        `${folder} is where the blobs of this store would be, but it is not a folder, so nothing was copied. Restore the folder.`,
      );
    }
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
