import type { LedgerEntry, TextPage } from "./store.ts";

/** The approximate amount of text in one answer, and in one read. */
export const PAGE_CHARACTERS: number = 1024 * 1024;

/** The same for streamed entries, for any number of readers: most of what is read waits for its reader. */
const STREAM_CHARACTERS = 128 * 1024;

/** The last item of a page if there may be more: pages of texts end early. */
export function nextOf<Item>(
  items: readonly Item[],
  { limit, characters = Infinity }: TextPage<unknown>,
  lengthOf: (item: Item) => number,
): Item | undefined {
  const length = items.reduce((sum, item) => sum + lengthOf(item), 0);
  return items.length < limit && length < characters ? undefined : items.at(-1);
}

/** The sequence after which to continue; undefined at the end. */
export function nextEntry(
  entries: readonly LedgerEntry[],
  page: TextPage<number>,
): number | undefined {
  return nextOf(entries, page, ({ content }) => content.length)?.sequence;
}

type ReadEntries = (page: TextPage<number>) => Promise<readonly LedgerEntry[]>;

/** Entries page by page, as they were when each page was read. */
export async function* entriesOf(
  read: ReadEntries,
  after: number,
  limit: number,
): AsyncGenerator<LedgerEntry> {
  for await (const entries of new EntryPages(read, after, limit)) yield* entries;
}

/** The same as pages. It keeps none of them: a generator would keep its last one while it waits. */
export class EntryPages implements AsyncIterableIterator<readonly LedgerEntry[], undefined> {
  readonly #read: ReadEntries;
  readonly #limit: number;
  #after: number | undefined;

  constructor(read: ReadEntries, after: number, limit: number) {
    this.#read = read;
    this.#limit = limit;
    this.#after = after;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<readonly LedgerEntry[], undefined>> {
    if (this.#after === undefined) return { value: undefined, done: true };
    const page = { after: this.#after, limit: this.#limit, characters: STREAM_CHARACTERS };
    const entries = await this.#read(page);
    this.#after = nextEntry(entries, page);
    return { value: entries, done: false };
  }
}
