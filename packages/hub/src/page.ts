import type { LedgerEntry, TextPage } from "./store.ts";

/** About how much text one answer has, and is read at a time. */
export const PAGE_CHARACTERS: number = 1024 * 1024;

/** The same where entry after entry is sent, to as many as ask: most of what is read waits for its reader. */
const STREAM_CHARACTERS = 128 * 1024;

/** The last item of a page where there may be more after it: pages of texts end early. */
export function nextOf<Item>(
  items: readonly Item[],
  { limit, characters = Infinity }: TextPage<unknown>,
  lengthOf: (item: Item) => number,
): Item | undefined {
  const length = items.reduce((sum, item) => sum + lengthOf(item), 0);
  return items.length < limit && length < characters ? undefined : items.at(-1);
}

/** The sequence to go on after; undefined where the entries have ended. */
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
