import type { Artifact } from "@waybill/protocol";
import { mediaTypeOf } from "./media-type.ts";

/** A file as its bytes in memory. */
export interface ArtifactBytes {
  readonly name: string;
  /** By default it is derived from the file extension. */
  readonly media_type?: string | undefined;
  readonly bytes: Uint8Array;
}

/** A file on disk. It is read in pieces, and never completely into memory. */
export interface ArtifactFile {
  readonly path: string | URL;
  /** By default the last part of the path. */
  readonly name?: string | undefined;
  /** By default it is derived from the file extension. */
  readonly media_type?: string | undefined;
}

/** A file as a stream. It is written to a temporary file, so that its upload can be resumed. */
export interface ArtifactStream {
  readonly name: string;
  /** By default it is derived from the file extension. */
  readonly media_type?: string | undefined;
  readonly stream: AsyncIterable<Uint8Array>;
}

/**
 * A file to send with work or with a result: its bytes, a path, a stream, or a received artifact. A
 * file larger than the agent's `inlineArtifactBytes` is uploaded to the hub before the envelope is
 * signed.
 *
 * @example
 * ```ts
 * await agent.handoff({
 *   capability: "transcribe",
 *   artifacts: [{ path: "interview.wav" }, { name: "notes.txt", bytes: notes }],
 * }).result;
 * ```
 */
export type GivenArtifact = Artifact | ArtifactBytes | ArtifactFile | ArtifactStream;

/** Whether what was given already names its digest. */
export function isArtifact(given: GivenArtifact): given is Artifact {
  return "digest" in given;
}

/** The name and the media type of a file. */
export interface Label {
  readonly name: string;
  readonly media_type: string;
}

/** The name and the type of a file, as far as they were given and otherwise from its path. */
export function labelOf(given: GivenArtifact): Label {
  const name = given.name ?? lastPartOf((given as ArtifactFile).path);
  return { name, media_type: given.media_type ?? mediaTypeOf(name) };
}

function lastPartOf(path: string | URL): string {
  const text = typeof path === "string" ? path : decodeURIComponent(path.pathname);
  return text.split(/[\\/]/).findLast((part) => part !== "") ?? text;
}
