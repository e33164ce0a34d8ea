/// <reference types="node" />
import { Buffer } from "node:buffer";
import { digestOfBytes, WaybillError } from "@waybill/protocol";
import type { Artifact } from "@waybill/protocol";

/** A file that travels with the work. */
export function artifactOf(name: string, mediaType: string, bytes: Uint8Array): Artifact {
  const data = Buffer.from(bytes).toString("base64url");
  return { name, media_type: mediaType, digest: digestOfBytes(bytes), data };
}

/** The bytes that an artifact carries. What does not have the digest it names is not that file. */
export function bytesOf({ name, data, digest, url }: Artifact): Uint8Array {
  if (data === undefined) {
    throw new WaybillError(
      422,
      `The artifact ${name} lies at ${url} and is not carried along: fetch it there, and compare its digest.`,
    );
  }
  const bytes = new Uint8Array(Buffer.from(data, "base64url"));
  if (digestOfBytes(bytes) === digest) return bytes;
  throw new WaybillError(
    422,
    `The artifact ${name} was changed on the way: its bytes do not have the digest ${digest}.`,
  );
}
