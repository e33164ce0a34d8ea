import type { Buffer } from "node:buffer";

/** One file of the log, for a reader. Reads are of exact length, or throw. */
export interface ReadableLogFile {
  size(): number;
  /** Reads into `into`, if it is given and long enough. */
  read(position: number, length: number, into?: Buffer): Buffer;
  close(): void;
}

/** One file of the log. */
export interface LogFile extends ReadableLogFile {
  /** Returns before the bytes are on disk. Writes all bytes, or throws. */
  write(bytes: Buffer, position: number): void;
  /** Appends zeros up to this size, in pieces. */
  extend(size: number): Promise<void>;
  /** Settles when everything written is on disk. */
  sync(): Promise<void>;
  /** Returns when everything written is on disk. */
  syncNow(): void;
}

/** The folder of the log, for a reader. */
export interface ReadableLogFolder {
  names(): readonly string[];
  open(name: string): ReadableLogFile;
}

/** The folder of the log: everything that it does to the disk. */
export interface LogFolder extends ReadableLogFolder {
  open(name: string): LogFile;
  /** An empty file, instead of one that may exist. */
  create(name: string): LogFile;
  remove(name: string): void;
  /** Replaces a file that may exist. */
  rename(from: string, to: string): void;
  /** Settles when the names of all files are on disk. */
  sync(): Promise<void>;
}
