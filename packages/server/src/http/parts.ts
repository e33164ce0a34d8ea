import type { LedgerEntry } from "@waybill/hub";
import { ledgerLinePieces, LINE_PIECE_CHARACTERS, PAGE_CHARACTERS } from "@waybill/hub/serving";
import { Bytes, EntryPage } from "../operations/operation.ts";
import type { Lines } from "../operations/operation.ts";

/** What is read from the store at a time. */
export interface Part {
  /** The characters that were read for it from the store. */
  readonly read: number;
  /** The bytes that the hub holds while it is sent: the part, and a piece made from it. */
  readonly held: number;
  readonly pieces: Pieces;
}

export type Pieces = Iterable<Uint8Array | string> | AsyncIterable<string>;

/** What is sent of an answer, part by part. */
export function partsOf(given: Bytes | Lines | EntryPage): AsyncIterator<Part> {
  if (given instanceof Bytes) return ofBytes(given);
  return given instanceof EntryPage ? new PartsOfPage(given) : new PartsOfLines(given);
}

async function* ofBytes({ bytes }: Bytes): AsyncGenerator<Part> {
  for await (const piece of bytes) yield { read: 0, held: piece.length, pieces: [piece] };
}

/** Like a generator, but nothing of what it has returned stays in memory. */
class PartsOfLines implements AsyncIterator<Part> {
  readonly #pages: Lines["pages"];

  constructor({ pages }: Lines) {
    this.#pages = pages;
  }

  async next(): Promise<IteratorResult<Part>> {
    const { value: page, done } = await this.#pages.next();
    if (done === true) return { value: undefined, done };
    // Nothing is read meanwhile.
    if (typeof page === "function") return part({ read: 0, held: 0, pieces: page() });
    return part({ ...sizesOf(page), pieces: linePieces(page) });
  }

  async return(): Promise<IteratorResult<Part>> {
    await this.#pages.return?.();
    return { value: undefined, done: true };
  }
}

/** `{ entries, next }`, with the lines of an export as items: their line feeds mean nothing in JSON. */
class PartsOfPage implements AsyncIterator<Part> {
  readonly #pages: EntryPage["pages"];
  #left: number;
  #charactersLeft = PAGE_CHARACTERS;
  /** The sequence of the last entry. */
  #last: number | undefined;
  #isOver = false;

  constructor({ pages, limit }: EntryPage) {
    this.#pages = pages;
    this.#left = limit;
  }

  async next(): Promise<IteratorResult<Part>> {
    if (this.#isOver) return { value: undefined, done: true };
    const start = this.#last === undefined ? PAGE_START : ",";
    const isFull = this.#left <= 0 || this.#charactersLeft <= 0;
    const { value: entries = [] } = isFull ? FULL : await this.#pages.next();
    const items = entries.slice(0, this.#left);
    this.#isOver = items.length === 0;
    if (this.#isOver) {
      const next = isFull ? `,"next":${this.#last}` : "";
      const pieces = [`${this.#last === undefined ? PAGE_START : ""}]${next}}`];
      return part({ read: 0, held: 0, pieces });
    }
    const sizes = sizesOf(items);
    this.#left -= items.length;
    this.#charactersLeft -= sizes.read;
    this.#last = items.at(-1)!.sequence;
    return part({ ...sizes, pieces: itemPieces(items, start) });
  }

  async return(): Promise<IteratorResult<Part>> {
    await this.#pages.return?.();
    return { value: undefined, done: true };
  }
}

const FULL = { value: undefined };
const PAGE_START = '{"entries":[';

function part(value: Part): IteratorResult<Part> {
  return { value, done: false };
}

function* linePieces(entries: readonly LedgerEntry[]): Generator<string> {
  for (const entry of entries) yield* ledgerLinePieces(entry);
}

function* itemPieces(entries: readonly LedgerEntry[], start: string): Generator<string> {
  let before = start;
  for (const entry of entries) {
    yield before;
    yield* ledgerLinePieces(entry);
    before = ",";
  }
}

/** While a page is sent, it is in memory with a piece of a line. */
function sizesOf(entries: readonly LedgerEntry[]): Pick<Part, "read" | "held"> {
  const read = entries.reduce((sum, { content }) => sum + content.length, 0);
  return { read, held: read + Math.min(read, LINE_PIECE_CHARACTERS) };
}
