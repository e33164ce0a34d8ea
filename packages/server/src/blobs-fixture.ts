/// <reference types="node" />
import { createHash } from "node:crypto";
import type { Artifact, Digest } from "@waybill/protocol";

/** The digest of some bytes in the form of a path. */
export function digestOfAll(bytes: Uint8Array): Digest {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** Deterministic bytes, different for each seed. */
export function someBytes(size: number, seed = 1): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length: size }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
}

/** An artifact that is a blob. */
export function blobArtifact(bytes: Uint8Array): Artifact {
  return {
    name: "a.bin",
    media_type: "application/octet-stream",
    digest: digestOfAll(bytes),
    size: bytes.length,
  };
}
