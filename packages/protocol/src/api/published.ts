import { formatTime, parseTime } from "../time.ts";
import { checked } from "./checked.ts";
import { shapes } from "./shapes.ts";

/** Which manifests of an agent are asked for: a page by sequence, or the newest alone. */
export interface ManifestsQuery {
  readonly agent: string;
  /** The sequence to go on after: `next` of the page before. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
  readonly newest?: boolean | undefined;
}

/** A signed manifest, and when the hub took it in, in milliseconds since 1970. */
export interface PublishedManifest {
  readonly text: string;
  readonly at: number;
}

/** A page of an agent's manifests. */
export interface PublishedPage {
  readonly manifests: readonly PublishedManifest[];
  /** The sequence to go on after; missing where the list has ended. */
  readonly next?: number | undefined;
}

/** A page of an agent's manifests, as JSON. */
export interface WirePublished {
  readonly manifests: readonly { readonly manifest: string; readonly at: string }[];
  readonly next?: number | undefined;
}

/** Reads a query for manifests; what is malformed is a 400. */
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

/** Reads a page of manifests from JSON; what is malformed is a 400. */
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
    // A list that does not go on is not followed for ever.
    if (next === undefined || next <= (after ?? 0)) return;
    after = next;
  }
}
