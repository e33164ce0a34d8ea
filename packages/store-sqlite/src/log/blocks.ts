import { HEADER_BYTES } from "./frame.ts";
import type { Frame } from "./frame.ts";
import type { Line, WrittenLine } from "./line.ts";

/** Entries that are read together: the first one's sequence, and where they are in their segment. */
export interface Block {
  readonly sequence: number;
  readonly position: number;
  readonly length: number;
}

/** A block ends with the entry that takes it over this length, so it has at most one larger one. */
const BLOCK_BYTES = 32 * 1024;

/** Divides the lines of a frame into blocks. */
export class Blocks {
  readonly #base: number;
  readonly #bodyBytes: number;
  readonly #found: (block: Block) => void;
  #open: { readonly sequence: number; readonly from: number } | undefined;

  constructor({ position, body }: Frame, found: (block: Block) => void) {
    this.#base = position + HEADER_BYTES;
    this.#bodyBytes = body.length;
    this.#found = found;
  }

  add(line: Line, { from, to }: WrittenLine): void {
    if (line.type === "entry") this.#open ??= { sequence: line.entry.sequence, from };
    if (this.#open !== undefined && to - this.#open.from >= BLOCK_BYTES) this.#close(to);
  }

  /** Call it after the last line. */
  end(): void {
    this.#close(this.#bodyBytes);
  }

  #close(to: number): void {
    if (this.#open === undefined) return;
    const { sequence, from } = this.#open;
    this.#found({ sequence, position: this.#base + from, length: to - from });
    this.#open = undefined;
  }
}
