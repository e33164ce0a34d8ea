/// <reference types="node" />
import { constants } from "node:fs";
import { lstat, mkdir, open, opendir, rm, statfs } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WaybillError } from "@waybill/protocol";
import type { BlobSpace, BlobStore, BlobWriter } from "@waybill/hub/store";

export const FOR_OWNER = 0o600;
const FOLDER_FOR_OWNER = 0o700;
/** The name of a blob file: the digest of the blob, and an id. No other file is opened here. */
export const FILE_NAME: RegExp = /^[0-9a-f]{64}\.[0-9a-f-]{36}$/;
const PIECE_BYTES = 256 * 1024;

/** The folder of a store's blobs. */
export function blobFolderOf(file: string): string {
  return `${file}-blobs`;
}

/** Blobs in a folder beside the store's file, which is created with the first of them. */
export function fileBlobs(folder: string): BlobStore {
  return new FileBlobs(folder);
}

class FileBlobs implements BlobStore {
  readonly #folder: string;
  #made: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(name: string, at: number): Promise<BlobWriter> {
    try {
      await (this.#made ??= this.#make());
      const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW;
      const handle = await open(this.#pathOf(name), flags, FOR_OWNER);
      try {
        // Independent of the umask.
        await handle.chmod(FOR_OWNER);
        await handle.truncate(at);
      } catch (error) {
        await handle.close();
        throw error;
      }
      return new FileWriter(handle, this.#folder, at);
    } catch (error) {
      this.#made = undefined;
      throw blobFailure(error, this.#folder);
    }
  }

  async #make(): Promise<void> {
    await makeBlobFolder(this.#folder);
    await syncFolder(dirname(this.#folder));
  }

  async size(name: string): Promise<number | undefined> {
    try {
      return (await lstat(this.#pathOf(name))).size;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      throw blobFailure(error, this.#folder);
    }
  }

  async *read(name: string, first: number, end: number): AsyncGenerator<Uint8Array> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(this.#pathOf(name), constants.O_RDONLY | constants.O_NOFOLLOW);
      for (let at = first; at < end;) {
        const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - at));
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
        if (bytesRead === 0) {
          throw new WaybillError(
            500,
            `A blob in ${this.#folder} is damaged: ${name} ends at byte ${at} instead of ${end}. Restore the last backup.`,
          );
        }
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } catch (error) {
      throw blobFailure(error, this.#folder);
    } finally {
      await handle?.close();
    }
  }

  async remove(name: string): Promise<void> {
    try {
      await rm(this.#pathOf(name), { force: true });
    } catch (error) {
      throw blobFailure(error, this.#folder);
    }
  }

  async space(): Promise<BlobSpace> {
    try {
      await (this.#made ??= this.#make());
      const { bavail, blocks, bsize } = await statfs(this.#folder);
      return { free: bavail * bsize, total: blocks * bsize };
    } catch (error) {
      this.#made = undefined;
      throw blobFailure(error, this.#folder);
    }
  }

  async *names(): AsyncGenerator<string> {
    try {
      for await (const { name } of await opendir(this.#folder))
        if (FILE_NAME.test(name)) yield name;
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw blobFailure(error, this.#folder);
    }
  }

  #pathOf(name: string): string {
    if (FILE_NAME.test(name)) return join(this.#folder, name);
    throw new WaybillError(400, `${JSON.stringify(name)} is not the name of a blob file.`);
  }
}

class FileWriter implements BlobWriter {
  readonly #handle: FileHandle;
  readonly #folder: string;
  #at: number;

  constructor(handle: FileHandle, folder: string, at: number) {
    this.#handle = handle;
    this.#folder = folder;
    this.#at = at;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await this.#handle.write(
          bytes,
          done,
          bytes.length - done,
          this.#at,
        );
        done += bytesWritten;
        this.#at += bytesWritten;
      }
    } catch (error) {
      throw blobFailure(error, this.#folder);
    }
  }

  /** Syncs the bytes, and then the name. */
  async sync(): Promise<void> {
    try {
      await this.#handle.sync();
      await syncFolder(this.#folder);
    } catch (error) {
      throw blobFailure(error, this.#folder);
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** Creates a private folder. One that others may read, or a link to one, is not the hub's. */
export async function makeBlobFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: FOLDER_FOR_OWNER }).catch((error: unknown) => {
    if (codeOf(error) !== "EEXIST") throw error;
  });
  const status = await lstat(folder);
  if (!status.isDirectory()) {
    throw new WaybillError(
      403,
      `${folder} is where the blobs of this store would be, but it is not a folder, so nothing is written there. Remove it, or move it away.`,
    );
  }
  const handle = await open(folder, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await handle.chmod(FOLDER_FOR_OWNER);
  } finally {
    await handle.close();
  }
}

/** Syncs the names in a folder. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

interface Failure {
  readonly isRetryable: boolean;
  readonly message: (folder: string) => string;
}

const FULL: Failure = {
  isRetryable: true,
  message: (folder) =>
    `The disk under the blobs in ${folder} is full. What has arrived is kept, and nothing else was lost. Free some space, then go on with the upload.`,
};
const READ_ONLY: Failure = {
  isRetryable: false,
  message: (folder) =>
    `The folder ${folder} can't be written to by this user. Give the hub's user the right to write there, then try again.`,
};

const FAILURES: Readonly<Record<string, Failure>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EFBIG: FULL,
  EACCES: READ_ONLY,
  EPERM: READ_ONLY,
  EROFS: READ_ONLY,
};

/** Converts an error of a file to one that says what to do about it. */
function blobFailure(error: unknown, folder: string): WaybillError {
  if (WaybillError.is(error)) return error;
  const failure = FAILURES[codeOf(error) ?? ""];
  const message =
    failure?.message(folder) ??
    `The blobs in ${folder} can't be read or written: ${WaybillError.from(error).message}. Check the disk.`;
  return new WaybillError(503, message, {
    cause: error,
    retryable: failure?.isRetryable ?? false,
  });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
