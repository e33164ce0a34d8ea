/// <reference types="node" />
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LedgerEntry, LedgerHead } from "@waybill/hub/store";
import { BoundedCache } from "@waybill/protocol/wire";
import { ledgerHeadIn } from "./begin-log.ts";
import type { Block } from "./log/blocks.ts";
import { decodeFrame } from "./log/frame.ts";
import { isEntryLine, linesOf, parseLine } from "./log/line.ts";
import type { ReadableLogFile, ReadableLogFolder } from "./log/disk.ts";
import { bodyOf, framesOf } from "./log/seal.ts";
import { segmentName } from "./log/segment.ts";
import { ENTRY_COLUMNS, entryOf } from "./row.ts";

/** Where the entries from a sequence on are in the log. */
export interface PlacedBlock extends Block {
  readonly segment: number;
}

/** An entry that the index names and the log does not have. */
export class MissingEntry extends Error {
  constructor(sequence: number, cause?: unknown) {
    super(`entry ${sequence} of the ledger can't be read from its segment`, { cause });
  }
}

/** The entries of a block as they are written. */
interface EntryLines {
  readonly lines: readonly string[];
  readonly characters: number;
}

interface OpenSegment {
  readonly number: number;
  readonly file: ReadableLogFile;
  readonly isSealed: boolean;
}

/** Of blocks that were read last. Large ones are read again: they would fill the memory. */
const CHARACTERS_KEPT = 256 * 1024;
const SCRATCH_BYTES = 1024 * 1024;

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
  /** Reused for every read: new buffers of this size would pile up until they are collected. */
  readonly #scratch: Buffer = Buffer.allocUnsafe(SCRATCH_BYTES);

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
    const block = this.#block.get(sequence) as PlacedBlock | undefined;
    if (block === undefined) throw new MissingEntry(sequence);
    return this.in(block, sequence);
  }

  /** The entry with this sequence in a block. */
  in(block: PlacedBlock, sequence: number): LedgerEntry {
    try {
      return this.#read(block, sequence);
    } catch {
      // The segment may have been sealed since it was opened, or since the block was looked up.
      this.close();
    }
    try {
      return this.#read((this.#block.get(sequence) as PlacedBlock | undefined) ?? block, sequence);
    } catch {
      return this.#search(block.segment, sequence);
    }
  }

  #read(block: PlacedBlock, sequence: number): LedgerEntry {
    return entryIn(this.#lineOf(block, sequence - block.sequence), sequence);
  }

  /** Reads a sealed segment from its beginning: a crash may have left the blocks that it had before. */
  #search(segment: number, sequence: number): LedgerEntry {
    try {
      const { file, isSealed } = this.#segment(segment);
      for (const frame of isSealed ? framesOf(file) : []) {
        if (frame.after.sequence < sequence) continue;
        return entryIn(entryLineIn(bodyOf(frame), sequence - frame.before.sequence - 1), sequence);
      }
    } catch (error) {
      throw new MissingEntry(sequence, error);
    }
    throw new MissingEntry(sequence);
  }

  /** The line of an entry, by its index in its block. */
  #lineOf(block: PlacedBlock, index: number): string {
    const kept = this.#kept.get(block.sequence);
    if (kept !== undefined) return kept.lines[index] ?? "";
    const body = this.#bodyOf(block);
    if (body.length > CHARACTERS_KEPT) return entryLineIn(body, index);
    const lines = Array.from(linesOf(body), ({ text }) => text).filter(isEntryLine);
    const characters = lines.reduce((sum, { length }) => sum + length, 0);
    this.#kept.set(block.sequence, { lines, characters });
    return lines[index] ?? "";
  }

  /** It is valid until the next read. */
  #bodyOf({ segment, sequence, position, length }: PlacedBlock): Buffer {
    const { file, isSealed } = this.#segment(segment);
    if (!isSealed) return file.read(position, length, this.#scratch);
    const isInside = position + length <= file.size();
    const found = isInside && decodeFrame(file.read(position, length, this.#scratch), 0);
    if (found && found.before.sequence + 1 === sequence) return bodyOf(found);
    throw new Error("the block is not where the index has it");
  }

  close(): void {
    this.#closeFile();
    this.#kept.clear();
  }

  #closeFile(): void {
    this.#open?.file.close();
    this.#open = undefined;
  }

  #segment(number: number): OpenSegment {
    if (this.#open?.number === number) return this.#open;
    this.#closeFile();
    const isSealed = this.#folder.names().includes(segmentName(number, true));
    const file = this.#folder.open(segmentName(number, isSealed));
    this.#open = { number, file, isSealed };
    return this.#open;
  }
}

function entryIn(written: string, sequence: number): LedgerEntry {
  const line = parseLine(written);
  if (line.type === "entry" && line.entry.sequence === sequence) return line.entry;
  throw new Error("another line is in its place");
}

/** One of the entries of a large block, without making texts of the others. */
function entryLineIn(body: Buffer, index: number): string {
  let entries = 0;
  for (let from = 0; from < body.length;) {
    const end = body.indexOf(LINE_FEED, from);
    const to = end === -1 ? body.length : end;
    if (isEntryLine(body.toString("latin1", from, Math.min(to, from + LINE_START_BYTES)))) {
      if (entries === index) return body.toString("utf8", from, to);
      entries++;
    }
    from = to + 1;
  }
  return "";
}

const LINE_FEED = 10;
/** As much as tells an entry from other lines. */
const LINE_START_BYTES = 8;
