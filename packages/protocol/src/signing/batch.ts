import { sha256, toBase64url, utf8 } from "#platform";
import type { PrivateKey, PublicKey } from "./key.ts";

/**
 * Roots whose signature was found good, so that the siblings of an envelope cost only hashes.
 * Nothing gets in except by being verified here.
 */
export interface BatchRoots {
  /** Whether a part of sound shape puts the leaf under a root that the key signed. */
  hasLeaf(leaf: Uint8Array, part: Uint8Array, key: PublicKey): boolean;
}

const HASH_BYTES = 32;
const SIGNATURE_BYTES = 64;
const HEAD_BYTES = 4 + 4 + SIGNATURE_BYTES;
const SIGNED_PREFIX = utf8("waybill batch 1\0");
const ROOTS_REMEMBERED = 1024;
/** The envelopes of a batch come close together: of few batches more than the root is of use. */
const TREES_REMEMBERED = 64;
const LEAVES_REMEMBERED = 1024;

export function batchRoots(capacity: number = ROOTS_REMEMBERED): BatchRoots {
  const known = new Set<string>();
  const trees = new Map<string, KnownTree>();

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

/** The signature parts of many signing inputs, with one signature for all of them. */
export function signBatch(signingInputs: readonly string[], key: PrivateKey): Uint8Array[] {
  const size = signingInputs.length;
  if (size === 0) return [];
  const levels = treeOver(signingInputs);
  const signature = key.sign(signedBytes(levels.at(-1)!, size));
  return signingInputs.map((_, index) => {
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

/** What is wrong with the shape of a signature part, which can be told without a key. */
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

/** Whether a part of sound shape puts the signing input under a root that the key signed. */
export function isInSignedBatch(
  signingInput: string,
  part: Uint8Array,
  key: PublicKey,
  roots: BatchRoots,
): boolean {
  return roots.hasLeaf(leafOf(signingInput), part, key);
}

/** The leaf and every node above it that a part leads to, up to the root. */
function climb(leaf: Uint8Array, part: Uint8Array): Uint8Array {
  const size = readUint32(part, 4);
  const path = new Uint8Array(HASH_BYTES * (1 + levelsAbove(size)));
  let position = readUint32(part, 0);
  let sibling = HEAD_BYTES;
  let end = 0;
  copy(leaf, 0, path, 0, HASH_BYTES);
  for (let last = size - 1; last > 0; last >>>= 1, position >>>= 1) {
    const isRight = position % 2 === 1;
    let node: Uint8Array = path.subarray(end, end + HASH_BYTES);
    if (isRight || position !== last) {
      node = parentOf(node, part, sibling, isRight);
      sibling += HASH_BYTES;
    }
    copy(node, 0, path, (end += HASH_BYTES), HASH_BYTES);
  }
  return path;
}

function parentOf(
  node: Uint8Array,
  part: Uint8Array,
  sibling: number,
  isRight: boolean,
): Uint8Array {
  copy(part, sibling, pair, isRight ? LEFT : RIGHT, HASH_BYTES);
  copy(node, 0, pair, isRight ? RIGHT : LEFT, HASH_BYTES);
  return sha256(pair);
}

function levelsAbove(size: number): number {
  return size === 1 ? 0 : 32 - Math.clz32(size - 1);
}

/**
 * What is known of a tree whose root was found signed: nodes that were on the way of a leaf to that
 * root, and those beside the way, which are as good, because only they hash to what was found. A
 * leaf that meets one of them needs no more hashes. The rest of its path is compared all the same:
 * whoever carries an envelope could write anything there, and make of it one with another digest.
 */
class KnownTree {
  readonly #nodes: Uint8Array;
  readonly #isKnown: Uint8Array;

  /** From the part that was verified, and where it led. */
  constructor(part: Uint8Array, path: Uint8Array) {
    const size = readUint32(part, 4);
    let count = size;
    for (let last = size - 1; last > 0; last >>>= 1) count += (last >>> 1) + 1;
    this.#nodes = new Uint8Array(count * HASH_BYTES);
    this.#isKnown = new Uint8Array(count);
    this.#learn(part, path, 1 + levelsAbove(size));
  }

  hasLeaf(leaf: Uint8Array, part: Uint8Array): boolean {
    const size = readUint32(part, 4);
    let position = readUint32(part, 0);
    let node = leaf;
    let sibling = HEAD_BYTES;
    let level = 0;
    let climbed = 0;
    let isMet = false;
    // The root is known, so that a known node is met at the latest there.
    for (let last = size - 1; ; last >>>= 1, position >>>= 1) {
      if (!isMet && this.#isKnown[level + position] === 1) {
        if (!this.#isAt(level + position, node, 0)) return false;
        isMet = true;
      }
      if (!isMet) copy(node, 0, scratch, climbed++ * HASH_BYTES, HASH_BYTES);
      if (last === 0) break;
      const isRight = position % 2 === 1;
      if (isRight || position !== last) {
        if (!isMet) node = parentOf(node, part, sibling, isRight);
        else if (!this.#isAt(level + (position ^ 1), part, sibling)) return false;
        sibling += HASH_BYTES;
      }
      level += last + 1;
    }
    this.#learn(part, scratch, climbed);
    return true;
  }

  #isAt(place: number, bytes: Uint8Array, at: number): boolean {
    const start = place * HASH_BYTES;
    for (let i = 0; i < HASH_BYTES; i++) {
      if (this.#nodes[start + i] !== bytes[at + i]) return false;
    }
    return true;
  }

  /** Of a path that was found good, the first nodes, and what stands beside each. */
  #learn(part: Uint8Array, path: Uint8Array, count: number): void {
    let position = readUint32(part, 0);
    let last = readUint32(part, 4) - 1;
    let sibling = HEAD_BYTES;
    for (let step = 0, level = 0; step < count; step++, position >>>= 1, last >>>= 1) {
      this.#put(level + position, path, step * HASH_BYTES);
      if (last > 0 && (position % 2 === 1 || position !== last)) {
        this.#put(level + (position ^ 1), part, sibling);
        sibling += HASH_BYTES;
      }
      level += last + 1;
    }
  }

  #put(place: number, bytes: Uint8Array, at: number): void {
    copy(bytes, at, this.#nodes, place * HASH_BYTES, HASH_BYTES);
    this.#isKnown[place] = 1;
  }
}

/**
 * Every level of the tree of RFC 9162, leaves first, each as one run of hashes. Pairing from the
 * left and lifting a last node without a partner gives the shape that the RFC describes by
 * splitting at the largest power of two.
 */
function treeOver(signingInputs: readonly string[]): Uint8Array[] {
  let level = new Uint8Array(signingInputs.length * HASH_BYTES);
  signingInputs.forEach((input, index) =>
    copy(leafOf(input), 0, level, index * HASH_BYTES, HASH_BYTES),
  );
  const levels = [level];
  while (level.length > HASH_BYTES) {
    const above = new Uint8Array(Math.ceil(level.length / 2 / HASH_BYTES) * HASH_BYTES);
    for (let left = 0, to = 0; left < level.length; left += 2 * HASH_BYTES, to += HASH_BYTES) {
      if (left + HASH_BYTES === level.length) {
        copy(level, left, above, to, HASH_BYTES);
      } else {
        copy(level, left, pair, LEFT, 2 * HASH_BYTES);
        copy(sha256(pair), 0, above, to, HASH_BYTES);
      }
    }
    levels.push((level = above));
  }
  return levels;
}

/** How many siblings lead from a leaf to the root: a level where it is last and alone has none. */
function pathLength(index: number, size: number): number {
  let length = 0;
  for (let last = size - 1, position = index; last > 0; last >>>= 1, position >>>= 1) {
    if (position % 2 === 1 || position !== last) length++;
  }
  return length;
}

function leafOf(signingInput: string): Uint8Array {
  return sha256(utf8(`\0${signingInput}`));
}

/** What a node is the hash of, filled anew for each: 0x01, the left child, the right child. */
const pair = new Uint8Array(1 + 2 * HASH_BYTES);
pair[0] = 1;
const LEFT = 1;
const RIGHT = 1 + HASH_BYTES;
/** The way of one leaf, for as long as it is looked at. */
const scratch = new Uint8Array(33 * HASH_BYTES);

/** For runs this short a loop beats `set` with a `subarray`, which makes an object for each run. */
function copy(
  from: Uint8Array,
  fromAt: number,
  to: Uint8Array,
  toAt: number,
  length: number,
): void {
  for (let i = 0; i < length; i++) to[toAt + i] = from[fromAt + i]!;
}

/**
 * The size is signed along with the root. A root alone does not fix it: leaf 0 has the same path
 * in a tree of three and in one of four, and whoever carries the envelope could swap the two and
 * make of it a second, equally valid one with another digest.
 */
function signedBytes(root: Uint8Array, size: number): Uint8Array {
  const bytes = new Uint8Array(SIGNED_PREFIX.length + 4 + HASH_BYTES);
  bytes.set(SIGNED_PREFIX);
  writeUint32(bytes, SIGNED_PREFIX.length, size);
  bytes.set(root, SIGNED_PREFIX.length + 4);
  return bytes;
}

function readUint32(bytes: Uint8Array, at: number): number {
  return bytes[at]! * 2 ** 24 + ((bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!);
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}
