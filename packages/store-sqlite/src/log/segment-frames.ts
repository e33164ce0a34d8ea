import { announcedBytes, decodeFrame, HEADER_BYTES, nextMagic } from "./frame.ts";
import type { Frame } from "./frame.ts";
import type { ReadableLogFile } from "./disk.ts";

/** What is read at once. */
const CHUNK_BYTES = 1024 * 1024;

/** Reads the frames of one segment. */
export class SegmentFrames {
  readonly #file: ReadableLogFile;
  readonly #until: number;
  #size: number;
  #chunk: Buffer = Buffer.alloc(0);
  #from = 0;

  /** Nothing at or after `until` is read. */
  constructor(file: ReadableLogFile, until: number = Infinity) {
    this.#file = file;
    this.#until = until;
    this.#size = Math.min(file.size(), until);
  }

  /** The frame at this position; undefined if there is none that is complete and intact. */
  at(position: number): Frame | undefined {
    const header = this.#bytes(position, HEADER_BYTES);
    const length = header && announcedBytes(header);
    const bytes = length === undefined ? undefined : this.#bytes(position, length);
    const frame = bytes && decodeFrame(bytes, 0);
    return frame && { ...frame, position };
  }

  /** The first intact frame at or after this position: one after damage. */
  firstFrom(position: number): Frame | undefined {
    for (let from = position; from < this.#size;) {
      const length = Math.min(CHUNK_BYTES, this.#size - from);
      const found = nextMagic(this.#bytes(from, length)!, 0);
      if (found === -1) {
        // A magic may begin in the last bytes.
        if (from + length === this.#size) return undefined;
        from += length - 3;
        continue;
      }
      const frame = this.at(from + found);
      if (frame !== undefined) return frame;
      from += found + 1;
    }
    return undefined;
  }

  /** Whether there is something other than zeros from this position on; then, where it ends. */
  endOfRemains(position: number): number {
    for (let end = this.#size; end > position;) {
      const from = Math.max(position, end - CHUNK_BYTES);
      const bytes = this.#bytes(from, end - from)!;
      let last = bytes.length - 1;
      while (last >= 0 && bytes[last] === 0) last--;
      if (last >= 0) return from + last + 1;
      end = from;
    }
    return position;
  }

  #bytes(position: number, length: number): Buffer | undefined {
    const start = position - this.#from;
    if (start >= 0 && start + length <= this.#chunk.length) {
      return this.#chunk.subarray(start, start + length);
    }
    if (position + length > this.#size) {
      // The owner may have laid out more since.
      this.#size = Math.min(this.#file.size(), this.#until);
      if (position + length > this.#size) return undefined;
    }
    this.#chunk = this.#file.read(
      position,
      Math.min(Math.max(length, CHUNK_BYTES), this.#size - position),
    );
    this.#from = position;
    return this.#chunk.subarray(0, length);
  }
}
