import { formatTime, parseTime } from "../time.ts";
import { checked } from "./checked.ts";
import { shapes } from "./shapes.ts";
import type { ManifestsQuery, WirePublished } from "./wire-published.ts";

/** A signed manifest, and when the hub accepted it, in milliseconds since 1970. */
export interface PublishedManifest {
  readonly text: string;
  readonly at: number;
}

/** A page of an agent's manifests. */
export interface PublishedPage {
  readonly manifests: readonly PublishedManifest[];
  /** The sequence to continue after; absent at the end of the list. */
  readonly next?: number | undefined;
}

/** Reads a query for manifests; throws a 400 if it is malformed. */
export function readManifestsQuery(value: unknown): ManifestsQuery {
  return checked(shapes().manifestsQuery, value, "The query");
}

/** A page of manifests as JSON. */
export function writePublished({ manifests, next }: PublishedPage): WirePublished {
  return {
    manifests: manifests.map(({ text, at }) => ({ manifest: text, at: formatTime(at) })),
    next,
  };
}

/** Reads a page of manifests from JSON; throws a 400 if it is malformed. */
export function readPublished(value: unknown): PublishedPage {
  const { manifests, next } = checked(shapes().published, value, "The list of manifests");
  return {
    manifests: manifests.map(({ manifest, at }) => ({ text: manifest, at: parseTime(at)! })),
    ...(next === undefined ? {} : { next }),
  };
}

/** All manifests of an agent by sequence, page by page. */
export async function* manifestPages(
  read: (query: ManifestsQuery) => Promise<PublishedPage>,
  agent: string,
): AsyncGenerator<PublishedManifest> {
  for (let after: number | undefined; ;) {
    const { manifests, next } = await read({ agent, after });
    yield* manifests;
    // A list that does not advance is not followed forever.
    if (next === undefined || next <= (after ?? 0)) return;
    after = next;
  }
}
