import { sha256Into, sha256OfText } from "#platform";

export const HASH_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** Index, size and signature: the head of a signature part, before the path. */
export const HEAD_BYTES: number = 4 + 4 + SIGNATURE_BYTES;

/**
 * Every level of the tree of RFC 9162, leaves first, each as one run of hashes. Pairing from the left
 * and promoting a last node without a partner gives the shape that the RFC describes by splitting at
 * the largest power of two.
 */
export function treeOver(leaves: readonly Uint8Array[]): Uint8Array[] {
  let level = new Uint8Array(leaves.length * HASH_BYTES);
  leaves.forEach((leaf, index) => copy(leaf, 0, level, index * HASH_BYTES, HASH_BYTES));
  const levels = [level];
  while (level.length > HASH_BYTES) {
    const above = new Uint8Array(Math.ceil(level.length / 2 / HASH_BYTES) * HASH_BYTES);
    for (let left = 0, to = 0; left < level.length; left += 2 * HASH_BYTES, to += HASH_BYTES) {
      if (left + HASH_BYTES === level.length) {
        copy(level, left, above, to, HASH_BYTES);
      } else {
        copy(level, left, pair, LEFT, 2 * HASH_BYTES);
        sha256Into(above, to, pair);
      }
    }
    levels.push((level = above));
  }
  return levels;
}

/** How many siblings the path from a leaf to the root has: a level on which it is last and alone has none. */
export function pathLength(index: number, size: number): number {
  let length = 0;
  for (let last = size - 1, position = index; last > 0; last >>>= 1, position >>>= 1) {
    if (position % 2 === 1 || position !== last) length++;
  }
  return length;
}

/**
 * The leaf of a JWS in a tree: the hash of its key and its payload, so that it is the same however the
 * JWS is signed. It is also what the digest of the JWS is made of.
 */
export function leafOf(kid: string, payload: string): Uint8Array {
  return sha256OfText(`\0${kid}\n${payload}`);
}

/** The input of a node's hash, reused for each: 0x01, the left child, the right child. */
const pair = new Uint8Array(1 + 2 * HASH_BYTES);
pair[0] = 1;
const LEFT = 1;
const RIGHT = 1 + HASH_BYTES;

/**
 * For runs this short a loop is faster than `set` with a `subarray`, which allocates an object for
 * each run.
 */
export function copy(
  from: Uint8Array,
  fromAt: number,
  to: Uint8Array,
  toAt: number,
  length: number,
): void {
  for (let i = 0; i < length; i++) to[toAt + i] = from[fromAt + i]!;
}

/** The leaf of a signature part and every node above it, up to the root. */
export function climb(leaf: Uint8Array, part: Uint8Array): Uint8Array {
  const size = readUint32(part, 4);
  const path = new Uint8Array(HASH_BYTES * (1 + levelsAbove(size)));
  let position = readUint32(part, 0);
  let sibling = HEAD_BYTES;
  let end = 0;
  copy(leaf, 0, path, 0, HASH_BYTES);
  for (let last = size - 1; last > 0; last >>>= 1, position >>>= 1) {
    const isRight = position % 2 === 1;
    if (isRight || position !== last) {
      climbOnce(path, end, part, sibling, isRight);
      sibling += HASH_BYTES;
    } else {
      copy(path, end, path, end + HASH_BYTES, HASH_BYTES);
    }
    end += HASH_BYTES;
  }
  return path;
}

/** Appends the parent of the node at `end`, with a sibling from a part. */
export function climbOnce(
  path: Uint8Array,
  end: number,
  part: Uint8Array,
  sibling: number,
  isRight: boolean,
): void {
  copy(part, sibling, pair, isRight ? LEFT : RIGHT, HASH_BYTES);
  copy(path, end, pair, isRight ? RIGHT : LEFT, HASH_BYTES);
  sha256Into(path, end + HASH_BYTES, pair);
}

export function levelsAbove(size: number): number {
  return size === 1 ? 0 : 32 - Math.clz32(size - 1);
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return bytes[at]! * 2 ** 24 + ((bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!);
}
