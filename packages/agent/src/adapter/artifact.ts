/// <reference types="node" />
import { Buffer } from "node:buffer";
import { digestOfBytes, WaybillError } from "@waybill/protocol";
import type { Artifact } from "@waybill/protocol";
import { originOf, receivedArtifact } from "../artifacts/received.ts";
import type { ReceivedArtifact } from "../artifacts/received.ts";

/** A file that travels with work or with a result. */
export function artifactOf(name: string, mediaType: string, bytes: Uint8Array): Artifact {
  const data = Buffer.from(bytes).toString("base64url");
  return { name, media_type: mediaType, digest: digestOfBytes(bytes), data };
}

/**
 * The most bytes of files that a framework gets with one work or one result. Loaded files are in
 * memory, and some frameworks write them into their state.
 */
export const LOADED_BYTES: number = 32 * 1024 * 1024;

/**
 * Loads the bytes of artifacts that are stored at the hub, for frameworks that take files inline.
 * Artifacts beyond `LOADED_BYTES` stay at the hub: `bytesOf` refuses them where a framework needs the
 * bytes, and a framework that only passes them on passes their reference.
 */
export async function loaded(
  artifacts: readonly ReceivedArtifact[],
): Promise<readonly ReceivedArtifact[]> {
  let room = LOADED_BYTES;
  const all: ReceivedArtifact[] = [];
  for (const artifact of artifacts) {
    const { name, media_type, size = 0 } = artifact;
    const origin = originOf(artifact);
    if (artifact.size === undefined || origin === undefined || size > room) all.push(artifact);
    else {
      room -= size;
      const bytes = await artifact.bytes({ limit: size });
      all.push(receivedArtifact(artifactOf(name, media_type, bytes), origin));
    }
  }
  return all;
}

/** The bytes inside an artifact. Refuses bytes that do not match the artifact's digest. */
export function bytesOf(artifact: Artifact): Uint8Array {
  const { name, data, digest, url } = artifact;
  if (artifact.size !== undefined) throw unloaded(artifact);
  if (data === undefined) {
    throw new WaybillError(
      422,
      `The artifact ${name} lies at ${url} and is not part of the envelope: fetch it there, and compare its digest.`,
    );
  }
  const bytes = new Uint8Array(Buffer.from(data, "base64url"));
  if (digestOfBytes(bytes) === digest) return bytes;
  throw new WaybillError(
    422,
    `The artifact ${name} was changed in transit: its bytes do not have the digest ${digest}.`,
  );
}

/** Refuses work with a file that the framework can't take: a file is never dropped. */
export function unloaded({ name, size }: Artifact): WaybillError {
  return new WaybillError(
    413,
    `The artifact ${name} has ${size} bytes. A framework gets files of at most ${LOADED_BYTES} bytes in total, so this one was left at the hub, where code can read it as a stream. Send a smaller file, or hand the work to an agent that reads large ones.`,
  );
}
