import { climbOnce, copy, HASH_BYTES, HEAD_BYTES, levelsAbove, readUint32 } from "./batch-tree.ts";

/** The path of one leaf, while it is verified. */
const scratch = new Uint8Array(33 * HASH_BYTES);

/**
 * The known nodes of a tree with a verified root: nodes on the path of a leaf to that root, and their
 * siblings, which are as good, because only they hash to the root. A leaf that meets one of them needs
 * no more hashes. The rest of its path is compared all the same: otherwise an intermediary could
 * change it, and make a second valid encoding of the envelope.
 */
export class KnownTree {
  readonly #nodes: Uint8Array;
  readonly #isKnown: Uint8Array;

  /** From the part that was verified, and the nodes of its path. */
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
    let sibling = HEAD_BYTES;
    let level = 0;
    /** How many nodes are below the one that the path has reached. */
    let climbed = 0;
    let isMet = false;
    copy(leaf, 0, scratch, 0, HASH_BYTES);
    // The root is known, so a known node is met there at the latest.
    for (let last = size - 1; ; last >>>= 1, position >>>= 1) {
      const end = climbed * HASH_BYTES;
      if (!isMet && this.#isKnown[level + position] === 1) {
        if (!this.#isAt(level + position, scratch, end)) return false;
        isMet = true;
      }
      if (last === 0) break;
      const isRight = position % 2 === 1;
      if (isRight || position !== last) {
        if (!isMet) climbOnce(scratch, end, part, sibling, isRight);
        else if (!this.#isAt(level + (position ^ 1), part, sibling)) return false;
        sibling += HASH_BYTES;
      } else if (!isMet) {
        copy(scratch, end, scratch, end + HASH_BYTES, HASH_BYTES);
      }
      if (!isMet) climbed++;
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

  /** The first nodes of a verified path, and the sibling of each. */
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
