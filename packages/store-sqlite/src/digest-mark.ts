import type { Digest } from "@waybill/protocol";

const PREFIX = "sha256:".length;
const MARK_DIGITS = 12;

/**
 * The first 48 bits of a digest, which find an envelope among the entries of its handoff: reading each
 * of them would cost as much as all of their contents.
 */
export function markOf(digest: Digest): number {
  return Number.parseInt(digest.slice(PREFIX, PREFIX + MARK_DIGITS), 16) || 0;
}
