/// <reference types="node" />
import { constants } from "node:fs";
import { chmod, copyFile, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { LogFile, ReadableLogFile, ReadableLogFolder } from "./log/disk.ts";
import { FileFolder } from "./log/file-folder.ts";
import type { Place } from "./log/place.ts";
import { isThere, readTail } from "./log/recover.ts";
import { segmentName, segmentsIn, unsealedIn } from "./log/segment.ts";

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const CHUNK_BYTES = 1024 * 1024;

/**
 * The log of a store while it is copied. Its owner may seal a segment meanwhile, which removes the
 * state that the index of the copy does not have: files that were opened before keep it.
 */
export class HeldLog implements ReadableLogFolder {
  readonly #path: string;
  readonly #folder: FileFolder;
  readonly #held = new Map<string, LogFile>();

  /** To be called before the index is copied. */
  constructor(path: string) {
    this.#path = path;
    this.#folder = new FileFolder(path, true);
    for (const number of unsealedIn(this.#folder.names())) {
      const name = segmentName(number);
      try {
        this.#held.set(name, this.#folder.open(name));
      } catch (error) {
        // Sealed since it was listed: the index has it.
        if (!isMissing(error)) throw error;
      }
    }
  }

  names(): readonly string[] {
    return [...new Set([...this.#held.keys(), ...this.#folder.names()])];
  }

  open(name: string): ReadableLogFile {
    const held = this.#held.get(name);
    return held === undefined ? this.#folder.open(name) : new HeldFile(held);
  }

  /**
   * Copies the log up to its present end. `place` is where the index of the copy goes: the log of a
   * copy is never behind its index.
   */
  async copy(to: string, place: Place): Promise<void> {
    if (!isThere(this, place)) throw new Error("the log was sealed while it was copied: try again");
    const end = readTail(this, place, () => undefined);
    if (end.frame === 0) return;
    await mkdir(to, { mode: FOLDER_MODE });
    await chmod(to, FOLDER_MODE);
    for (const { number, name } of segmentsIn(this.#folder.names())) {
      if (number < place.segment) await copyWhole(this.#path, to, name, segmentName(number, true));
    }
    for (let number = place.segment; number <= end.segment; number++) {
      const file = this.open(segmentName(number));
      const length = number === end.segment ? end.position : file.size();
      await copyStart(file, join(to, segmentName(number)), length);
      file.close();
    }
    await new FileFolder(to).sync();
  }

  close(): void {
    for (const file of this.#held.values()) file.close();
  }
}

/** Stays open until the whole log is closed. */
class HeldFile implements ReadableLogFile {
  readonly #file: LogFile;

  constructor(file: LogFile) {
    this.#file = file;
  }

  size(): number {
    return this.#file.size();
  }

  read(position: number, length: number): Buffer {
    return this.#file.read(position, length);
  }

  close(): void {}
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

/** Removes an incomplete copy. */
export function removeLog(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

/** Copies a segment that does not change any more, except that it may be sealed meanwhile. */
async function copyWhole(from: string, to: string, name: string, sealed: string): Promise<void> {
  try {
    const mode = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL;
    await copyFile(join(from, name), join(to, name), mode);
    await sync(join(to, name));
  } catch (error) {
    if (!isMissing(error) || name === sealed) throw error;
    await copyWhole(from, to, sealed, sealed);
  }
}

async function copyStart(source: ReadableLogFile, to: string, length: number): Promise<void> {
  const target = await open(to, "wx", FILE_MODE);
  try {
    for (let position = 0; position < length; position += CHUNK_BYTES) {
      const bytes = source.read(position, Math.min(CHUNK_BYTES, length - position));
      await target.write(bytes, 0, bytes.length, position);
    }
    await target.chmod(FILE_MODE);
    await target.sync();
  } finally {
    await target.close();
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await handle.chmod(FILE_MODE);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
