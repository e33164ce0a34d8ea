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
const CHARACTERS_KEPT = 256 * 1024;
const PIECE_BYTES = 64 * 1024;
const LINE_FEED = 10;

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
    const line = parseLine(this.#lineOf(open, block, sequence));
    if (line.type === "entry" && line.entry.sequence === sequence) return line.entry;
    throw new Error(`another line is in its place`);
  }

  #lineOf(open: OpenSegment, block: Block, sequence: number): string {
    if (open.sealed === undefined && block.length > CHARACTERS_KEPT) {
      return entryLineIn(open.file, block, sequence - block.sequence);
    }
    const { first, lines } =
      open.sealed === undefined ? this.#linesOf(block, open.file) : this.#sealed(open, sequence);
    return lines[sequence - first] ?? "";
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

/** One of the entries of a large block, which is read in pieces: the others would fill the memory. */
function entryLineIn(file: ReadableLogFile, { position, length }: Block, index: number): string {
  const end = position + length;
  let entries = 0;
  for (let start = position; start < end;) {
    const lineEnd = endOfLine(file, start, end);
    if (isEntryLine(file.read(start, Math.min(LINE_START_BYTES, lineEnd - start)).toString())) {
      if (entries === index) return file.read(start, lineEnd - start).toString("utf8");
      entries++;
    }
    start = lineEnd + 1;
  }
  return "";
}

/** As much as tells an entry from other lines. */
const LINE_START_BYTES = 8;

function endOfLine(file: ReadableLogFile, start: number, end: number): number {
  for (let at = start; at < end; at += PIECE_BYTES) {
    const found = file.read(at, Math.min(PIECE_BYTES, end - at)).indexOf(LINE_FEED);
    if (found !== -1) return at + found;
  }
  return end;
}
