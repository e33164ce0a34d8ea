/// <reference types="node" />
import { setImmediate } from "node:timers/promises";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { LedgerHead } from "@waybill/hub/store";
import type { Block } from "./blocks.ts";
import type { LogFile, LogFolder, ReadableLogFile } from "./disk.ts";
import { encodeFrame } from "./frame.ts";
import type { Frame } from "./frame.ts";
import { isEntryLine, linesOf, openedEntryLine, parseLine } from "./line.ts";
import { SegmentFrames } from "./segment-frames.ts";
import { segmentName } from "./segment.ts";

/** Entries that are compressed together: similar envelopes share most of their text. */
const BLOCK_CHARACTERS = 64 * 1024;

/** The entries of a sealed segment: the first and the last one, and the blocks in which they are. */
export interface SealedEntries {
  readonly first: number;
  readonly last: number;
  readonly blocks: readonly Block[];
}

/**
 * Writes a segment whose last frame is behind again: only the entries of the ledger, compressed. The
 * state of handoffs is in the index, which must be on disk up to the end of this segment. The segment
 * itself is removed once the index has its blocks.
 */
export async function sealSegment(folder: LogFolder, number: number): Promise<SealedEntries> {
  const sealed = segmentName(number, true);
  if (!folder.names().includes(sealed)) await writeSealed(folder, number, sealed);
  const file = folder.open(sealed);
  try {
    return entriesOf(file);
  } finally {
    file.close();
  }
}

function entriesOf(file: ReadableLogFile): SealedEntries {
  const blocks: Block[] = [];
  let first: number | undefined;
  let last = 0;
  for (const { before, after, position, bytes } of framesOf(file)) {
    const sequence = before.sequence + 1;
    first ??= sequence;
    last = after.sequence;
    if (last >= sequence) blocks.push({ sequence, position, length: bytes });
  }
  return { first: first!, last, blocks };
}

/** It has its name only when it is complete and on disk. */
async function writeSealed(folder: LogFolder, number: number, sealed: string): Promise<void> {
  const part = `${segmentName(number)}.part`;
  const source = folder.open(segmentName(number));
  const next = folder.open(segmentName(number + 1));
  const target = folder.create(part);
  try {
    const blocks = new SealedBlocks(target);
    let last: Frame | undefined;
    for (const frame of framesOf(source)) {
      if (last !== undefined && !isNext(frame, last)) break;
      blocks.add(frame);
      last = frame;
      // Listings wait for the thread that does this: what was asked for meanwhile comes first.
      await setImmediate();
    }
    const after = new SegmentFrames(next).at(0);
    // What is broken stays as it is, for those who can read more of it.
    if (last === undefined || after === undefined || !isNext(after, last)) {
      throw new Error(`segment ${segmentName(number)} is broken, and can't be sealed`);
    }
    blocks.end();
    await target.sync();
  } finally {
    for (const file of [source, next, target]) file.close();
  }
  folder.rename(part, sealed);
  await folder.sync();
}

function isNext(frame: Frame, last: Frame): boolean {
  return frame.number === last.number + 1 && frame.previous === last.checksum;
}

/** The intact frames of a file, from its beginning. */
export function* framesOf(file: ReadableLogFile): Generator<Frame> {
  const frames = new SegmentFrames(file);
  for (let at = 0; ;) {
    const frame = frames.at(at);
    if (frame === undefined) return;
    yield frame;
    at += frame.bytes;
  }
}

/** Most blocks are smaller: a block in several parts would be copied together. */
const BLOCK_BYTES = 256 * 1024;

/** The lines of a frame: a sealed one is compressed. */
export function bodyOf({ kind, body }: Frame): Buffer {
  return kind === "sealed" ? inflateRawSync(body, { chunkSize: BLOCK_BYTES }) : body;
}

class SealedBlocks {
  readonly #file: LogFile;
  #position = 0;
  #lines: string[] = [];
  #characters = 0;
  #before: LedgerHead | undefined;
  #after: LedgerHead | undefined;
  #number = 0;

  constructor(file: LogFile) {
    this.#file = file;
  }

  add(frame: Frame): void {
    this.#number = frame.number;
    this.#before ??= frame.before;
    this.#after ??= frame.before;
    for (const { text } of linesOf(frame.body)) {
      const line = isEntryLine(text) ? parseLine(text) : undefined;
      if (line?.type !== "entry") continue;
      const opened = openedEntryLine(line.entry);
      this.#lines.push(opened);
      this.#characters += opened.length;
      this.#after = { sequence: line.entry.sequence, hash: line.entry.hash };
      if (this.#characters >= BLOCK_CHARACTERS) this.#write();
    }
  }

  /** The last block names the last frame, even if it has no entry. */
  end(): void {
    if (this.#before !== undefined) this.#write();
  }

  #write(): void {
    const [before, after] = [this.#before!, this.#after!];
    const start = { kind: "sealed", number: this.#number, previous: 0, before, after } as const;
    const { bytes } = encodeFrame(start, deflateRawSync(this.#lines.join("")));
    this.#file.write(bytes, this.#position);
    this.#position += bytes.length;
    this.#lines = [];
    this.#characters = 0;
    this.#before = after;
  }
}
