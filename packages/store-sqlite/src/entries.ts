/// <reference types="node" />
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LedgerEntry, LedgerHead } from "@waybill/hub/store";
import { BoundedCache } from "@waybill/protocol/wire";
import { ledgerHeadIn } from "./begin-log.ts";
import { isEntryLine, linesOf, parseLine } from "./log/line.ts";
import type { ReadableLogFile, ReadableLogFolder } from "./log/disk.ts";
import type { Frame } from "./log/frame.ts";
import { bodyOf, framesOf } from "./log/seal.ts";
import { segmentName } from "./log/segment.ts";
import { ENTRY_COLUMNS, entryOf } from "./row.ts";

/** Where the entries from a sequence on are in the log. */
export interface Block {
  readonly sequence: number;
  readonly segment: number;
  readonly position: number;
  readonly length: number;
}

/** An entry that the index names and the log does not have. */
export class MissingEntry extends Error {
  constructor(sequence: number, cause?: unknown) {
    super(`entry ${sequence} of the ledger can't be read from its segment`, { cause });
  }
}

/** Consecutive entries as they are written, from a sequence on. */
interface EntryLines {
  readonly first: number;
  readonly lines: readonly string[];
  readonly characters: number;
}

interface OpenSegment {
  readonly number: number;
  readonly file: ReadableLogFile;
  /** The compressed blocks of a sealed segment. */
  readonly sealed: readonly Frame[] | undefined;
}

/** Of blocks that were read last. Large entries are read again: they would fill the memory. */
const CHARACTERS_KEPT = 1024 * 1024;

/** Reads entries of the ledger by their sequence: from the log, and from a migrated database. */
export class Entries {
  readonly #folder: ReadableLogFolder;
  readonly #legacy: StatementSync;
  readonly #block: StatementSync;
  /** The end of what an earlier release wrote into the database. */
  readonly legacyHead: LedgerHead;
  readonly #kept = new BoundedCache<number, EntryLines>(
    CHARACTERS_KEPT,
    ({ characters }) => characters,
  );
  #open: OpenSegment | undefined;

  constructor(database: DatabaseSync, folder: ReadableLogFolder) {
    this.#folder = folder;
    this.#legacy = database.prepare(`SELECT ${ENTRY_COLUMNS} FROM ledger WHERE sequence = ?`);
    this.#block = database.prepare(
      "SELECT sequence, segment, position, length FROM block WHERE sequence <= ? ORDER BY sequence DESC LIMIT 1",
    );
    this.legacyHead = ledgerHeadIn(database);
  }

  /** The entry with this sequence, which exists. */
  at(sequence: number): LedgerEntry {
    if (sequence <= this.legacyHead.sequence) {
      const row = this.#legacy.get(sequence);
      if (row === undefined) throw new MissingEntry(sequence);
      return entryOf(row);
    }
    const block = this.#block.get(sequence) as Block | undefined;
    if (block === undefined) throw new MissingEntry(sequence);
    return this.in(block, sequence);
  }

  /** The entry with this sequence in a block. */
  in(block: Block, sequence: number): LedgerEntry {
    try {
      return this.#read(block, sequence);
    } catch {
      // The segment may have been sealed since it was opened, or since the block was looked up.
      this.close();
    }
    try {
      return this.#read(block, sequence);
    } catch (error) {
      throw new MissingEntry(sequence, error);
    }
  }

  #read(block: Block, sequence: number): LedgerEntry {
    const open = this.#segment(block.segment);
    const { first, lines } =
      open.sealed === undefined ? this.#linesOf(block, open.file) : this.#sealed(open, sequence);
    const line = parseLine(lines[sequence - first] ?? "");
    if (line.type === "entry" && line.entry.sequence === sequence) return line.entry;
    throw new Error(`another line is in its place`);
  }

  close(): void {
    this.#open?.file.close();
    this.#open = undefined;
    this.#kept.clear();
  }

  #linesOf({ sequence: first, position, length }: Block, file: ReadableLogFile): EntryLines {
    return this.#keep(first, () => file.read(position, length));
  }

  /** The block of a sealed segment with this sequence. */
  #sealed({ sealed = [] }: OpenSegment, sequence: number): EntryLines {
    const frame = sealed.find(({ after }) => after.sequence >= sequence);
    if (frame === undefined) throw new Error("the segment ends before it");
    return this.#keep(frame.before.sequence + 1, () => bodyOf(frame));
  }

  #keep(first: number, read: () => Buffer): EntryLines {
    const kept = this.#kept.get(first);
    if (kept !== undefined) return kept;
    const lines = Array.from(linesOf(read()), ({ text }) => text).filter(isEntryLine);
    const characters = lines.reduce((sum, { length }) => sum + length, 0);
    const block = { first, lines, characters };
    this.#kept.set(first, block);
    return block;
  }

  #segment(number: number): OpenSegment {
    if (this.#open?.number === number) return this.#open;
    this.close();
    const isSealed = this.#folder.names().includes(segmentName(number, true));
    const file = this.#folder.open(segmentName(number, isSealed));
    this.#open = { number, file, sealed: isSealed ? Array.from(framesOf(file)) : undefined };
    return this.#open;
  }
}
