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

/** Entries page by page, as they were when each page was read. */
export async function* entriesOf(
  read: (page: TextPage<number>) => Promise<readonly LedgerEntry[]>,
  after: number,
  limit: number,
): AsyncGenerator<LedgerEntry> {
  for (let last: number | undefined = after; last !== undefined;) {
    const page = { after: last, limit, characters: STREAM_CHARACTERS };
    const entries = await read(page);
    yield* entries;
    last = nextEntry(entries, page);
  }
}
