import { deepEqual, equal } from "node:assert/strict";
import type { Commit, Page, Store, StoredHandoff, WaitingPlace } from "@waybill/hub/store";
import type { StoreSubject } from "./subject.ts";
import { commitOne } from "@waybill/hub/store";

/** Cases by name: each states one promise of a store. */
export type Cases<Subject extends StoreSubject = StoreSubject> = Readonly<
  Record<string, (subject: Subject) => Promise<void>>
>;

/** Commits one after the other, each of which must succeed. */
export async function commitAll(store: Store, commits: Iterable<Commit>): Promise<void> {
  for (const commit of commits) equal((await commitOne(store, commit)).type, "committed");
}

export function idsOf(handoffs: readonly StoredHandoff[]): string[] {
  return handoffs.map(({ id }) => id);
}

/** Reads a list to its end in pages of two. */
export async function inPages<Item, Cursor>(
  read: (page: { readonly after?: Cursor; readonly limit: number }) => Promise<readonly Item[]>,
  cursorOf: (item: Item) => Cursor,
): Promise<Item[]> {
  const all: Item[] = [];
  for (let after: Cursor | undefined; ; after = cursorOf(all.at(-1)!)) {
    const page = await read(after === undefined ? { limit: 2 } : { after, limit: 2 });
    equal(page.length <= 2, true, "a page has more than its limit");
    all.push(...page);
    equal(all.length < 1000, true, "the pages do not end");
    if (page.length < 2) return all;
  }
}

/** Checks the queue, read at once and in pages: these handoffs, by place. */
export async function isQueue(
  read: (page: Page<WaitingPlace>) => Promise<readonly StoredHandoff[]>,
  ids: readonly string[],
): Promise<void> {
  deepEqual(idsOf(await read({ limit: 100 })), ids);
  deepEqual(idsOf(await inPages(read, (last) => last)), ids);
}

/** Checks a list, read at once and in pages: these handoffs, by id. */
export async function isListing(
  read: (page: { after?: string; limit: number }) => Promise<readonly StoredHandoff[]>,
  ids: readonly string[],
): Promise<void> {
  deepEqual(idsOf(await read({ limit: 100 })), ids);
  deepEqual(idsOf(await inPages(read, ({ id }) => id)), ids);
}
