/** A file of a blob store that is being written. */
export interface BlobWriter {
  /** Appends bytes. If it rejects, some of them may have been written. */
  write(bytes: Uint8Array): Promise<void>;
  /** Settles once everything written, and the file's name, is durable. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The disk under a blob store, in bytes. */
export interface BlobSpace {
  readonly free: number;
  readonly total: number;
}

/**
 * Where a hub stores the bytes of blobs: files by name. It decides nothing. Rows in the hub's store
 * say which file is which blob, so a file without a row is left over from a crash.
 */
export interface BlobStore {
  /** Opens a file for appending at an offset, truncates it there, and creates it if it is missing. */
  write(name: string, at: number): Promise<BlobWriter>;
  /** The size of a file; undefined if there is none. */
  size(name: string): Promise<number | undefined>;
  /** The bytes of a file in a range, in pieces of at most 1 MiB. Rejects if there are fewer. */
  read(name: string, first: number, end: number): AsyncIterable<Uint8Array>;
  /** Removes a file. A missing one is no error. */
  remove(name: string): Promise<void>;
  /** The size and the free space of the disk. Undefined if there is no disk. */
  space?(): Promise<BlobSpace>;
  /** The names of all files, in any order. */
  names(): AsyncIterable<string>;
}
