/** Which manifests of an agent are asked for: a page by sequence, or the newest alone. */
export interface ManifestsQuery {
  readonly agent: string;
  /** The sequence to continue after: `next` of the previous page. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
  readonly newest?: boolean | undefined;
}

/** A page of an agent's manifests, as JSON. */
export interface WirePublished {
  readonly manifests: readonly { readonly manifest: string; readonly at: string }[];
  readonly next?: number | undefined;
}
