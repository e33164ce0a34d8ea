import type { HubClient } from "./client.ts";

const PAGE = 100;

/** The items of a paged list, up to a maximum. */
export async function listOf<Item>(
  hub: HubClient,
  path: string,
  member: string,
  most: number = Infinity,
): Promise<Item[]> {
  const items: Item[] = [];
  const url = new URL(path, hub.url);
  for (;;) {
    url.searchParams.set("limit", String(Math.min(PAGE, most - items.length)));
    const page = (await hub.get(url.pathname + url.search)) as {
      readonly [name: string]: readonly Item[] | string | undefined;
    };
    items.push(...(page[member] as readonly Item[]));
    const { next } = page;
    if (next === undefined || items.length >= most) return items;
    url.searchParams.set("after", String(next));
  }
}
