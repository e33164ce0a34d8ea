/** A file of a blob store that is being written. */
export interface BlobWriter {
  /** Appends bytes. Where it rejects, some of them may be there. */
  write(bytes: Uint8Array): Promise<void>;
  /** Settles once all that was written, and the file's name, outlive a crash. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The disk under a blob store, in bytes. */
export interface BlobSpace {
  readonly free: number;
  readonly total: number;
}

/**
 * Where a hub keeps the bytes of blobs: files by name. It decides nothing. The rows in the hub's store
 * say which file is which blob, so a file that no row names is what a crash has left behind.
 */
export interface BlobStore {
  /** Opens a file to append at a byte, and cuts off what is behind it. A file that is not there is made. */
  write(name: string, at: number): Promise<BlobWriter>;
  /** How many bytes a file has; undefined where there is none. */
  size(name: string): Promise<number | undefined>;
  /** The bytes of a file from one on and up to another, in pieces of at most 1 MiB. Rejects where there are fewer. */
  read(name: string, first: number, end: number): AsyncIterable<Uint8Array>;
  /** Takes a file away. One that is not there is no error. */
  remove(name: string): Promise<void>;
  /** How large the disk is, and how much of it is free. Left out where there is no disk. */
  space?(): Promise<BlobSpace>;
  /** The names of all files, in any order. */
  names(): AsyncIterable<string>;
}
