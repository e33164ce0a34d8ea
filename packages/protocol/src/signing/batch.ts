import { toBase64url, utf8 } from "#platform";
import {
  climb,
  copy,
  HASH_BYTES,
  HEAD_BYTES,
  pathLength,
  readUint32,
  treeOver,
} from "./batch-tree.ts";
import { InFlight } from "../in-flight.ts";
import type { PrivateKey, PublicKey } from "./key.ts";
import { KnownTree } from "./known-tree.ts";

/**
 * A cache of roots with a verified signature, so that the other envelopes of a batch cost only hashes.
 * Only verification adds to it.
 */
export interface BatchRoots {
  /** Whether a well-formed part puts the leaf under a root that the key signed. */
  hasLeaf(leaf: Uint8Array, part: Uint8Array, key: PublicKey): boolean;
}

const SIGNED_PREFIX = utf8("waybill batch 1\0");
const ROOTS_REMEMBERED = 1024;
/** The envelopes of a batch arrive close together: more than the root is useful for a few batches only. */
const TREES_REMEMBERED = 64;
const LEAVES_REMEMBERED = 1024;

/**
 * Caches the roots of batches whose signatures were verified, so that their other envelopes cost a few
 * hashes.
 */
export function batchRoots(capacity: number = ROOTS_REMEMBERED): BatchRoots {
  const known = new Set<string>();
  const trees = new InFlight<string, KnownTree>();

  function isSigned(
    root: Uint8Array,
    size: number,
    signature: Uint8Array,
    key: PublicKey,
  ): boolean {
    const head = signedBytes(root, size);
    const name = `${key.kid}.${toBase64url(head)}.${toBase64url(signature)}`;
    if (known.has(name)) return true;
    if (!key.verify(head, signature)) return false;
    if (capacity > 0) {
      if (known.size >= capacity) known.delete(known.values().next().value as string);
      known.add(name);
    }
    return true;
  }

  return {
    hasLeaf(leaf, part, key) {
      const name = `${key.kid}.${toBase64url(part.subarray(4, HEAD_BYTES))}`;
      const tree = trees.get(name);
      if (tree !== undefined) return tree.hasLeaf(leaf, part);
      const path = climb(leaf, part);
      const size = readUint32(part, 4);
      const root = path.subarray(path.length - HASH_BYTES);
      if (!isSigned(root, size, part.subarray(8, HEAD_BYTES), key)) return false;
      if (size <= LEAVES_REMEMBERED && capacity > 0) {
        if (trees.size >= Math.min(capacity, TREES_REMEMBERED)) {
          trees.delete(trees.keys().next().value as string);
        }
        trees.set(name, new KnownTree(part, path));
      }
      return true;
    },
  };
}

/** The signature parts of many leaves, with one signature for all of them. */
export function signBatch(leaves: readonly Uint8Array[], key: PrivateKey): Uint8Array[] {
  const size = leaves.length;
  if (size === 0) return [];
  const levels = treeOver(leaves);
  const signature = key.sign(signedBytes(levels.at(-1)!, size));
  return leaves.map((_, index) => {
    const part = new Uint8Array(HEAD_BYTES + pathLength(index, size) * HASH_BYTES);
    writeUint32(part, 0, index);
    writeUint32(part, 4, size);
    part.set(signature, 8);
    let end = HEAD_BYTES;
    let position = index;
    for (const level of levels) {
      const sibling = (position ^ 1) * HASH_BYTES;
      if (sibling < level.length) {
        copy(level, sibling, part, end, HASH_BYTES);
        end += HASH_BYTES;
      }
      position >>>= 1;
    }
    return part;
  });
}

/** What is wrong with the form of a signature part, as far as that shows without a key. */
export function faultOfBatchPart(part: Uint8Array): string | undefined {
  if (part.length < HEAD_BYTES)
    return `it has ${part.length} bytes and a batch takes at least ${HEAD_BYTES}`;
  const index = readUint32(part, 0);
  const size = readUint32(part, 4);
  if (index >= size) return `its leaf index is ${index} in a tree of ${size}`;
  const expected = HEAD_BYTES + pathLength(index, size) * HASH_BYTES;
  if (part.length === expected) return undefined;
  return `it has ${part.length} bytes and leaf ${index} of ${size} takes exactly ${expected}`;
}

/**
 * The size is signed with the root. A root alone does not determine it: leaf 0 has the same path in a
 * tree of three and in one of four, and an intermediary could swap the sizes to make a second, equally
 * valid encoding of the envelope.
 */
function signedBytes(root: Uint8Array, size: number): Uint8Array {
  const bytes = new Uint8Array(SIGNED_PREFIX.length + 4 + HASH_BYTES);
  bytes.set(SIGNED_PREFIX);
  writeUint32(bytes, SIGNED_PREFIX.length, size);
  bytes.set(root, SIGNED_PREFIX.length + 4);
  return bytes;
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}
