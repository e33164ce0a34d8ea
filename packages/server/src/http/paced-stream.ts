/// <reference types="node" />
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FairScheduler } from "../access/fair-scheduler.ts";
import type { FairSlots } from "../access/fair-slots.ts";
import type { RateLimits } from "../access/rate-limits.ts";
import type { Part, Pieces } from "./parts.ts";

export interface Stream {
  readonly owner: string;
  readonly response: ServerResponse;
  /** Since when its next piece waits for the reader. */
  waitsSince: number;
}

export interface Pace {
  /** Changes how many bytes the hub holds for the stream. */
  readonly hold: (bytes: number) => void;
  readonly tolls: RateLimits;
  readonly turns: FairScheduler;
  readonly reads: FairSlots;
}

/**
 * Returns each piece once the last one has left the hub. What was sent is released before the stream
 * waits for the next part: of many readers that wait, none keeps a part in memory. Generators would
 * keep their last values.
 */
export class PacedStream extends Readable {
  readonly #stream: Stream;
  readonly #parts: AsyncIterator<Part>;
  readonly #pace: Pace;
  #pieces: PieceIterator | undefined;
  #held = 0;
  /** The length of the last piece, until it is paid. */
  #unpaid = 0;

  constructor(stream: Stream, parts: AsyncIterator<Part>, pace: Pace) {
    // Of one byte, so that one piece is enough.
    super({ highWaterMark: 1 });
    this.#stream = stream;
    this.#parts = parts;
    this.#pace = pace;
  }

  override _read(): void {
    this.#next().then(
      (piece) => this.push(piece ?? null),
      (error: unknown) => this.destroy(error as Error),
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#pieces = undefined;
    void this.#close();
    done(error);
  }

  async #close(): Promise<void> {
    try {
      await this.#parts.return?.();
    } catch {
      // It makes no difference for the reader.
    }
  }

  get #isGone(): boolean {
    return this.#stream.response.destroyed;
  }

  /** The next piece; undefined at the end, and if nobody reads it any more. */
  async #next(): Promise<Uint8Array | string | undefined> {
    if (this.#unpaid > 0) await this.#pay();
    while (!this.#isGone) {
      const next = await this.#pieces?.next();
      if (next?.done === false) {
        this.#unpaid = next.value.length;
        return next.value;
      }
      if (!(await this.#readPart())) break;
    }
    return undefined;
  }

  /** Settles when the last piece has left, and the next may be made. */
  async #pay(): Promise<void> {
    const { owner, response } = this.#stream;
    // The consumer hands this piece to the socket right after asking for the next one.
    await Promise.resolve();
    this.#stream.waitsSince = performance.now();
    await drained(response);
    this.#stream.waitsSince = Infinity;
    if (this.#isGone) return;
    // Operators have no budget.
    const wait = owner === "" ? 0 : this.#pace.tolls.takeDownload(owner, this.#unpaid);
    this.#unpaid = 0;
    if (wait > 0) await sleep(wait);
    if (!this.#isGone) await this.#pace.turns.nextPiece(owner);
  }

  /** Returns whether there is another part. */
  async #readPart(): Promise<boolean> {
    this.#pieces = undefined;
    this.#charge(0);
    return this.#pace.reads.run(this.#stream.owner, async () => {
      if (this.#isGone) return false;
      const { value: part, done } = await this.#parts.next();
      if (done === true) return false;
      this.#pieces = iteratorOf(part.pieces);
      // It is charged before another one is read: its size is not known earlier.
      this.#charge(part.held);
      const wait = this.#stream.owner === "" ? 0 : this.#pace.tolls.takeHistory(part.read);
      // Nothing else is read in its place meanwhile.
      if (wait > 0) await sleep(wait);
      return true;
    });
  }

  #charge(held: number): void {
    this.#pace.hold(held - this.#held);
    this.#held = held;
  }
}

function iteratorOf(pieces: Pieces): PieceIterator {
  return Symbol.iterator in pieces ? pieces[Symbol.iterator]() : pieces[Symbol.asyncIterator]();
}

type PieceIterator = Iterator<Uint8Array | string> | AsyncIterator<string>;

/** Settles once the socket takes more, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.once("drain", done);
    response.once("close", done);
  });
}
