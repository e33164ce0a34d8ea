/// <reference types="node" />
import type { LedgerHead } from "@waybill/hub/store";
import type { LogFile, LogFolder } from "./disk.ts";
import { encodeFrame, HEADER_BYTES } from "./frame.ts";
import type { Frame } from "./frame.ts";
import { placeAfter } from "./place.ts";
import type { Place } from "./place.ts";
import { findDamage, isThere, readTail } from "./recover.ts";
import type { Damage } from "./recover.ts";
import { SegmentFrames } from "./segment-frames.ts";
import { segmentBytes, segmentName, segmentsIn } from "./segment.ts";

/** What the log says when it can't be opened. */
export class DamagedLog extends Error {
  readonly damage: Damage | undefined;
  constructor(message: string, damage?: Damage) {
    super(message);
    this.damage = damage;
  }
}

/** The log is larger than its limit allows. */
export class FullLog extends Error {}

/** What a log may occupy. */
export interface LogSizes {
  /** Of all segments together. */
  readonly bytesMax: number;
  /** What is laid out for the segment of this number. */
  readonly segmentBytes: (number: number) => number;
}

const USUAL_SIZES: LogSizes = { bytesMax: Infinity, segmentBytes };

interface OpenSegment {
  readonly number: number;
  readonly file: LogFile;
  readonly bytes: number;
}

/**
 * The log of a store, open at its end. A frame is one write and one sync, and the next one is written
 * only when the one before is on disk: after a crash, at most the last one is torn.
 */
export class Log {
  readonly #folder: LogFolder;
  readonly #sizes: LogSizes;
  #current: OpenSegment | undefined;
  #next: OpenSegment | undefined;
  #layingOut: Promise<void> | undefined;
  #place: Place;
  /** Why nothing can be written until the log is opened again. */
  #failure: Error | undefined;

  private constructor(folder: LogFolder, place: Place, sizes: LogSizes) {
    this.#folder = folder;
    this.#place = place;
    this.#sizes = sizes;
  }

  /**
   * Opens the log, and calls the visitor for each frame after a place. A torn end is removed. A broken
   * frame before an intact one, and a log that ends before the place, are damage.
   */
  static async open(
    folder: LogFolder,
    from: Place,
    visit: (frame: Frame, place: Place) => void,
    sizes: Partial<LogSizes> = {},
  ): Promise<Log> {
    if (!isThere(folder, from)) {
      throw new DamagedLog(
        `frame ${from.frame}, which was on disk, is missing or broken in segment ${segmentName(from.segment)}`,
      );
    }
    const end = readTail(folder, from, visit);
    const damage = findDamage(folder, end);
    if (damage !== undefined) throw new DamagedLog(damageText(damage), damage);
    const log = new Log(folder, end, { ...USUAL_SIZES, ...sizes });
    await log.#repair(end.frame > from.frame);
    return log;
  }

  get place(): Place {
    return this.#place;
  }

  /**
   * Removes a torn frame, so that its remains are never taken for anything, and segments that have
   * been laid out. A frame that nobody has confirmed may be readable without being on disk, and after
   * a failed sync even another sync would not put it there: it is written again.
   */
  async #repair(hasTail: boolean): Promise<void> {
    const { segment, position, last } = this.#place;
    for (const { number, isSealed, name } of segmentsIn(this.#folder.names())) {
      if (number <= segment || isSealed) continue;
      this.#folder.remove(name);
    }
    const name = segmentName(segment);
    if (!this.#folder.names().includes(name)) return;
    const file = this.#folder.open(name);
    const end = new SegmentFrames(file).endOfRemains(position);
    if (end > position) file.write(Buffer.alloc(end - position), position);
    if (hasTail) file.write(file.read(last, position - last), last);
    await file.sync();
    await this.#folder.sync();
    this.#current = { number: segment, file, bytes: file.size() };
  }

  /** The file of the frame that was appended last. */
  get #file(): LogFile {
    return this.#current!.file;
  }

  /** Writes one frame at the end. It is not on disk before a sync. Only one call at a time. */
  async append(body: Buffer, after: LedgerHead): Promise<Place> {
    this.#refuseAfterFailure();
    const { frame: number, checksum: previous, head: before } = this.#place;
    const start = { kind: "turn", number: number + 1, previous, before, after } as const;
    const length = HEADER_BYTES + body.length;
    if (!this.#hasRoom(length)) await this.#advance(length);
    const { bytes, checksum } = encodeFrame(start, body);
    const { number: segment } = this.#current!;
    const position = segment === this.#place.segment ? this.#place.position : 0;
    this.#attempt(() => this.#file.write(bytes, position));
    const frame = { ...start, length: body.length, checksum, position, bytes: length, body };
    this.#place = placeAfter(frame, segment);
    this.#layOutAhead();
    return this.#place;
  }

  /** Settles when the last frame is on disk. */
  async sync(): Promise<void> {
    this.#refuseAfterFailure();
    try {
      await this.#file.sync();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  /** Returns when the last frame is on disk. */
  syncNow(): void {
    this.#refuseAfterFailure();
    this.#attempt(() => this.#file.syncNow());
  }

  async close(): Promise<void> {
    await this.#layingOut;
    this.#current?.file.close();
    this.#next?.file.close();
  }

  #hasRoom(length: number): boolean {
    if (this.#current === undefined) return false;
    const { number, bytes } = this.#current;
    return (number === this.#place.segment ? this.#place.position : 0) + length <= bytes;
  }

  /** Continues in the next segment, which is laid out at least for this frame. */
  async #advance(length: number): Promise<void> {
    await this.#layingOut;
    const number = this.#current === undefined ? this.#place.segment : this.#current.number + 1;
    if ((this.#next?.bytes ?? 0) < length) {
      const usual = Math.max(this.#sizes.segmentBytes(number), length);
      try {
        await this.#layOut(number, usual);
      } catch (error) {
        if (usual === length) throw error;
        // The last room of a disk is for commits.
        await this.#layOut(number, length);
      }
    }
    this.#current?.file.close();
    this.#current = this.#next;
    this.#next = undefined;
  }

  /** Half a segment is time enough to lay out the next one. */
  #layOutAhead(): void {
    const { number, bytes } = this.#current!;
    const isEarly = this.#place.position < bytes / 2;
    if (isEarly || this.#next !== undefined || this.#layingOut !== undefined) return;
    // If it fails, it is tried again when it is needed, and fails there for everybody to see.
    this.#layingOut = this.#layOut(number + 1, this.#sizes.segmentBytes(number + 1))
      .catch(() => undefined)
      .then(() => {
        this.#layingOut = undefined;
      });
  }

  /** A segment is on disk with its name and its full length before anything is written to it. */
  async #layOut(number: number, bytes: number): Promise<void> {
    const name = segmentName(number);
    const others = segmentsIn(this.#folder.names()).filter((each) => each.number !== number);
    const occupied = others.reduce((sum, each) => sum + this.#sizeOf(each.name), 0);
    if (occupied + bytes > this.#sizes.bytesMax) {
      throw new FullLog(`the log would be larger than ${this.#sizes.bytesMax} bytes`);
    }
    this.#next?.file.close();
    this.#next = undefined;
    const file = this.#folder.create(name);
    try {
      await file.extend(bytes);
      await file.sync();
      await this.#folder.sync();
    } catch (error) {
      file.close();
      this.#folder.remove(name);
      throw error;
    }
    this.#next = { number, file, bytes };
  }

  #sizeOf(name: string): number {
    const file = this.#folder.open(name);
    try {
      return file.size();
    } finally {
      file.close();
    }
  }

  #attempt(write: () => void): void {
    try {
      write();
    } catch (error) {
      throw this.#fail(error);
    }
  }

  #fail(error: unknown): Error {
    this.#failure ??= error as Error;
    return this.#failure;
  }

  #refuseAfterFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** What is damaged, and what still holds. */
export function damageText({ segment, position, holdsTo, holdsFrom, last }: Damage): string {
  return `segment ${segmentName(segment)} of the ledger is broken at byte ${position}; entries up to ${holdsTo} hold, and so do entries from ${holdsFrom} to ${last}`;
}
