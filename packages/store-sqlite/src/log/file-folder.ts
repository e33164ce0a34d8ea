/// <reference types="node" />
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  write,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { WaybillError } from "@waybill/protocol";
import type { LogFile, LogFolder } from "./disk.ts";

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Undefined on Windows. */
const NO_LINK = constants.O_NOFOLLOW ?? 0;
const ZEROS: Buffer = Buffer.alloc(256 * 1024);

const synced = promisify(fdatasync);
const written = promisify(write);

/** The log's folder on a real disk; for a reader, files are opened for reading only. */
export class FileFolder implements LogFolder {
  readonly #path: string;
  readonly #isReadOnly: boolean;

  constructor(path: string, isReadOnly: boolean = false) {
    this.#path = path;
    this.#isReadOnly = isReadOnly;
  }

  names(): readonly string[] {
    const status = lstatSync(this.#path, { throwIfNoEntry: false });
    if (status === undefined) return [];
    if (!status.isDirectory()) {
      throw new WaybillError(
        403,
        `${this.#path} is where the ledger of this store would be, but it is not a folder: nothing is read or written there. Restore the folder.`,
      );
    }
    return readdirSync(this.#path);
  }

  open(name: string): LogFile {
    const flags = this.#isReadOnly ? constants.O_RDONLY : constants.O_RDWR;
    return new DiskFile(openSync(join(this.#path, name), flags | NO_LINK));
  }

  create(name: string): LogFile {
    if (lstatSync(this.#path, { throwIfNoEntry: false }) === undefined) {
      mkdirSync(this.#path, { mode: FOLDER_MODE });
      chmodSync(this.#path, FOLDER_MODE);
    }
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | NO_LINK;
    const file = openSync(join(this.#path, name), flags, FILE_MODE);
    fchmodSync(file, FILE_MODE);
    return new DiskFile(file);
  }

  remove(name: string): void {
    rmSync(join(this.#path, name), { force: true });
  }

  rename(from: string, to: string): void {
    renameSync(join(this.#path, from), join(this.#path, to));
  }

  async sync(): Promise<void> {
    // Windows opens no folders, and syncs names by itself.
    if (process.platform === "win32") return;
    for (const path of [this.#path, join(this.#path, "..")]) {
      const folder = await open(path, "r");
      try {
        await folder.sync();
      } finally {
        await folder.close();
      }
    }
  }
}

class DiskFile implements LogFile {
  readonly #file: number;

  constructor(file: number) {
    this.#file = file;
  }

  size(): number {
    return fstatSync(this.#file).size;
  }

  read(position: number, length: number, into?: Buffer): Buffer {
    const isLongEnough = into !== undefined && into.length >= length;
    const bytes = isLongEnough ? into.subarray(0, length) : Buffer.allocUnsafe(length);
    for (let done = 0; done < length;) {
      const count = readSync(this.#file, bytes, done, length - done, position + done);
      if (count === 0) throw new Error(`the file ends before byte ${position + length}`);
      done += count;
    }
    return bytes;
  }

  write(bytes: Buffer, position: number): void {
    for (let done = 0; done < bytes.length;) {
      done += writeSync(this.#file, bytes, done, bytes.length - done, position + done);
    }
  }

  async extend(size: number): Promise<void> {
    for (let position = this.size(); position < size;) {
      const length = Math.min(ZEROS.length, size - position);
      const { bytesWritten } = await written(this.#file, ZEROS, 0, length, position);
      position += bytesWritten;
    }
  }

  sync(): Promise<void> {
    return synced(this.#file);
  }

  syncNow(): void {
    fdatasyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}
