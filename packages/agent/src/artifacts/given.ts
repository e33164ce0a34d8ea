import type { Artifact } from "@waybill/protocol";
import { mediaTypeOf } from "./media-type.ts";

/** A file as its bytes in memory. */
export interface ArtifactBytes {
  readonly name: string;
  /** Left out, it follows from the end of the name. */
  readonly media_type?: string | undefined;
  readonly bytes: Uint8Array;
}

/** A file on disk. It is read piece by piece, and never whole into memory. */
export interface ArtifactFile {
  readonly path: string | URL;
  /** Left out, the last part of the path. */
  readonly name?: string | undefined;
  /** Left out, it follows from the end of the name. */
  readonly media_type?: string | undefined;
}

/** A file as its bytes come. They are written to a temporary file, so that an upload can be resumed. */
export interface ArtifactStream {
  readonly name: string;
  /** Left out, it follows from the end of the name. */
  readonly media_type?: string | undefined;
  readonly stream: AsyncIterable<Uint8Array>;
}

/**
 * A file that is to go along with work or with a result: its bytes, a path or a stream, or an artifact
 * that was received. Whatever has more bytes than the agent's `inlineArtifactBytes` is uploaded to the
 * hub before the envelope is signed.
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

/** Whether what was given says its digest by itself. */
export function isArtifact(given: GivenArtifact): given is Artifact {
  return "digest" in given;
}

/** What a file is called, and what it is. */
export interface Label {
  readonly name: string;
  readonly media_type: string;
}

/** The name and the type of a file, as far as they were given and else by its path. */
export function labelOf(given: GivenArtifact): Label {
  const name = given.name ?? lastPartOf((given as ArtifactFile).path);
  return { name, media_type: given.media_type ?? mediaTypeOf(name) };
}

function lastPartOf(path: string | URL): string {
  const text = typeof path === "string" ? path : decodeURIComponent(path.pathname);
  return text.split(/[\\/]/).findLast((part) => part !== "") ?? text;
}
