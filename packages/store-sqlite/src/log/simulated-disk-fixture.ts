/// <reference types="node" />
import type { LogFile, LogFolder } from "./disk.ts";

const SECTOR = 512;

/** One call that changed the disk, or a note of the test's own. */
export type Operation =
  | { readonly type: "create" | "remove"; readonly name: string }
  | { readonly type: "rename"; readonly from: string; readonly to: string }
  | {
      readonly type: "write";
      readonly file: number;
      readonly bytes: Buffer;
      readonly position: number;
    }
  | { readonly type: "sync" | "sync_failed"; readonly file: number }
  | { readonly type: "sync_names" }
  | { readonly type: "note"; readonly note: number };

interface Write {
  readonly bytes: Buffer;
  readonly position: number;
}

interface FileState {
  /** What is on disk. */
  durable: Buffer;
  /** What was written since, in order. */
  unsynced: Write[];
  /** Written before a sync that failed: still readable, and no later sync puts it on disk. */
  lost: Write[];
}

/** What remains of a disk after a power loss. */
export type Image = ReadonlyMap<string, Buffer>;

/**
 * A folder on a disk that loses power. It keeps apart what is written and what is on disk, for the
 * contents of files and for their names, and records every call.
 */
export class SimulatedDisk implements LogFolder {
  readonly operations: Operation[] = [];
  /** The sync of a file, counted from 1, that fails. */
  failSyncAt: number = Infinity;
  #syncs = 0;
  readonly #files: FileState[] = [];
  readonly #names = new Map<string, number>();
  #namesOnDisk = new Map<string, number>();
  /** Changes of names since the last sync of the folder. */
  #changes: ((names: Map<string, number>) => void)[] = [];

  constructor(image: Image = new Map()) {
    for (const [name, bytes] of image) {
      this.#names.set(
        name,
        this.#files.push({ durable: Buffer.from(bytes), unsynced: [], lost: [] }) - 1,
      );
    }
    this.#namesOnDisk = new Map(this.#names);
  }

  note(note: number): void {
    this.operations.push({ type: "note", note });
  }

  names(): readonly string[] {
    return [...this.#names.keys()];
  }

  open(name: string): LogFile {
    const file = this.#names.get(name);
    if (file === undefined) throw new Error(`no file ${name}`);
    return this.#handle(file);
  }

  create(name: string): LogFile {
    this.perform({ type: "create", name });
    return this.open(name);
  }

  remove(name: string): void {
    this.perform({ type: "remove", name });
  }

  rename(from: string, to: string): void {
    this.perform({ type: "rename", from, to });
  }

  async sync(): Promise<void> {
    this.perform({ type: "sync_names" });
  }

  #handle(file: number): LogFile {
    const contents = () => written(this.#files[file]!);
    const sync = () => {
      this.#syncs++;
      const hasFailed = this.#syncs === this.failSyncAt;
      this.perform({ type: hasFailed ? "sync_failed" : "sync", file });
      if (hasFailed) throw new Error("EIO: the disk failed");
    };
    return {
      size: () => contents().length,
      read: (position, length) => {
        const bytes = contents().subarray(position, position + length);
        if (bytes.length < length) throw new Error("the file ends");
        return Buffer.from(bytes);
      },
      write: (bytes, position) =>
        this.perform({ type: "write", file, bytes: Buffer.from(bytes), position }),
      extend: async (size) => {
        const position = contents().length;
        if (size > position) {
          this.perform({ type: "write", file, bytes: Buffer.alloc(size - position), position });
        }
      },
      sync: async () => sync(),
      syncNow: sync,
      close: () => undefined,
    };
  }

  /** Carries out one operation, of this run or of a recorded one. */
  perform(operation: Operation): void {
    this.operations.push(operation);
    const rename = (change: (names: Map<string, number>) => void) => {
      change(this.#names);
      this.#changes.push(change);
    };
    switch (operation.type) {
      case "create": {
        const file = this.#files.push({ durable: Buffer.alloc(0), unsynced: [], lost: [] }) - 1;
        return rename((names) => names.set(operation.name, file));
      }
      case "remove":
        return rename((names) => names.delete(operation.name));
      case "rename":
        return rename((names) => {
          const file = names.get(operation.from);
          names.delete(operation.from);
          if (file !== undefined) names.set(operation.to, file);
        });
      case "write":
        return void this.#files[operation.file]!.unsynced.push(operation);
      case "sync": {
        const file = this.#files[operation.file]!;
        for (const each of file.unsynced) file.durable = apply(file.durable, each);
        file.unsynced = [];
        return;
      }
      case "sync_failed": {
        const file = this.#files[operation.file]!;
        file.lost.push(...file.unsynced);
        file.unsynced = [];
        return;
      }
      case "sync_names":
        for (const change of this.#changes) change(this.#namesOnDisk);
        this.#changes = [];
        return;
      case "note":
    }
  }

  /**
   * The images that the disk may hold if power is lost now: unsynced writes and changes of names are
   * lost, kept, reordered (any subset of them is on disk), and torn at the boundaries of sectors.
   */
  *images(random: () => number): Generator<Image> {
    const names = subsets(this.#changes, random);
    const perFile = this.#files.map((file) => contentsAfterLoss(file, random));
    for (const changes of names) {
      const map = new Map(this.#namesOnDisk);
      for (const change of changes) change(map);
      const first = (file: number) => perFile[file]![0]!;
      // One file at a time in all its variants, the others as they are on disk or as written.
      for (const [, file] of map) {
        for (const bytes of perFile[file]!) {
          for (const others of [first, (other: number) => perFile[other]!.at(-1)!]) {
            yield new Map(
              Array.from(map, ([name, other]) => [name, other === file ? bytes : others(other)]),
            );
          }
        }
      }
      if (map.size === 0) yield new Map();
    }
  }
}

function written({ durable, lost, unsynced }: FileState): Buffer {
  return [...lost, ...unsynced].reduce(apply, durable);
}

function apply(to: Buffer, { bytes, position }: Write): Buffer {
  const grown = Buffer.alloc(Math.max(to.length, position + bytes.length));
  to.copy(grown);
  bytes.copy(grown, position);
  return grown;
}

/** The first is what is on disk, the last is everything that was written. */
function contentsAfterLoss(file: FileState, random: () => number): Buffer[] {
  const pieces = [...file.lost, ...file.unsynced].flatMap(sectorsOf);
  return subsets(pieces, random).map((kept) => kept.reduce(apply, file.durable));
}

function sectorsOf({ bytes, position }: Write): Write[] {
  const pieces: Write[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + SECTOR - ((position + at) % SECTOR));
    pieces.push({ bytes: bytes.subarray(at, end), position: position + at });
    at = end;
  }
  return pieces;
}

const EXHAUSTIVE_UP_TO = 4;
const SAMPLES = 12;

/** None first, all last; in between every subset of a few, or prefixes, suffixes and samples of many. */
function subsets<Item>(all: readonly Item[], random: () => number): Item[][] {
  if (all.length <= EXHAUSTIVE_UP_TO) {
    return Array.from({ length: 2 ** all.length }, (_none, mask) =>
      all.filter((_, index) => mask & (2 ** index)),
    );
  }
  const some = Array.from({ length: SAMPLES }, (_, sample) => {
    const cut = 1 + Math.floor(random() * (all.length - 1));
    if (sample % 3 === 0) return all.slice(0, cut);
    if (sample % 3 === 1) return all.slice(cut);
    return all.filter(() => random() < 0.5);
  });
  return [[], ...some, [...all]];
}
