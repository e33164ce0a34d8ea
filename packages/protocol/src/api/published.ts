import { formatTime, parseTime } from "../time.ts";
import { checked } from "./checked.ts";
import { shapes } from "./shapes.ts";

/** A signed manifest, and when the hub took it in, in milliseconds since 1970. */
export interface PublishedManifest {
  readonly text: string;
  readonly at: number;
}

export interface WirePublished {
  readonly manifests: readonly { readonly manifest: string; readonly at: string }[];
}

export function writePublished(published: readonly PublishedManifest[]): WirePublished {
  return { manifests: published.map(({ text, at }) => ({ manifest: text, at: formatTime(at) })) };
}

export function readPublished(value: unknown): readonly PublishedManifest[] {
  const { manifests } = checked(shapes().published, value, "The list of manifests");
  return manifests.map(({ manifest, at }) => ({ text: manifest, at: parseTime(at)! }));
}
