/// <reference types="node" />
import { Buffer } from "node:buffer";
import type { Random } from "./random.ts";

const SECTOR = 512;

interface Piece {
  readonly position: number;
  readonly bytes: Buffer;
}

/** A file: what can be read, what is on disk, and what lies between the two. */
export class SimulatedFile {
  #current: Buffer = Buffer.alloc(0);
  #durable: Buffer = Buffer.alloc(0);
  /** In sectors. */
  #unsynced: Piece[] = [];

  get size(): number {
    return this.#current.length;
  }

  read(position: number, length: number): Buffer {
    const bytes = this.#current.subarray(position, position + length);
    if (bytes.length < length) throw new Error(`the file ends before byte ${position + length}`);
    return Buffer.from(bytes);
  }

  write(bytes: Buffer, position: number): void {
    const piece = { position, bytes: Buffer.from(bytes) };
    this.#current = written(this.#current, piece);
    this.#unsynced.push(...sectorsOf(piece));
  }

  /** A sync that has failed leaves data that can be read, and that no later sync puts on disk. */
  sync(isDone: boolean): void {
    if (isDone) this.#keep(this.#unsynced);
    this.#unsynced = [];
  }

  losePower(keeps: () => boolean): void {
    this.#keep(this.#unsynced.filter(keeps));
    this.#unsynced = [];
    this.#current = Buffer.from(this.#durable);
  }

  synced(): SimulatedFile {
    const file = new SimulatedFile();
    file.#current = Buffer.from(this.#durable);
    file.#durable = Buffer.from(this.#durable);
    return file;
  }

  #keep(pieces: readonly Piece[]): void {
    for (const piece of pieces) this.#durable = written(this.#durable, piece);
  }
}

function written(to: Buffer, { position, bytes }: Piece): Buffer {
  const end = position + bytes.length;
  let target = to;
  if (end > to.length) {
    target = Buffer.alloc(end);
    to.copy(target);
  }
  bytes.copy(target, position);
  return target;
}

function sectorsOf({ position, bytes }: Piece): Piece[] {
  const sectors: Piece[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = Math.min(bytes.length, from + SECTOR - ((position + from) % SECTOR));
    sectors.push({ position: position + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
  return sectors;
}

type Names = Map<string, SimulatedFile>;

/** The files of one folder by their names, which need a sync of their own. */
export class FileTable {
  #current: Names = new Map();
  #durable: Names = new Map();
  #unsynced: ((names: Names) => void)[] = [];

  names(): readonly string[] {
    return [...this.#current.keys()];
  }

  open(name: string): SimulatedFile {
    const file = this.#current.get(name);
    if (file === undefined) throw new Error(`there is no file ${name}`);
    return file;
  }

  create(name: string): void {
    const file = new SimulatedFile();
    this.#change((names) => names.set(name, file));
  }

  remove(name: string): void {
    this.#change((names) => names.delete(name));
  }

  rename(from: string, to: string): void {
    const file = this.open(from);
    this.#change((names) => {
      names.delete(from);
      names.set(to, file);
    });
  }

  #change(change: (names: Names) => void): void {
    change(this.#current);
    this.#unsynced.push(change);
  }

  sync(): void {
    for (const change of this.#unsynced) change(this.#durable);
    this.#unsynced = [];
  }

  losePower(random: Random): void {
    for (const change of this.#unsynced) if (random.chance(0.5)) change(this.#durable);
    this.#unsynced = [];
    this.#current = new Map(this.#durable);
    for (const file of this.#current.values()) {
      const share = random.pick([0, 0.5, 1]);
      file.losePower(() => random.chance(share));
    }
  }

  synced(): FileTable {
    const table = new FileTable();
    for (const [name, file] of this.#durable) table.#durable.set(name, file.synced());
    table.#current = new Map(table.#durable);
    return table;
  }
}
