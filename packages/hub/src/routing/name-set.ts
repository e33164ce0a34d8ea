/**
 * A set of names as hashes, four bytes each, because strangers choose the names. It has false
 * positives: about one in some million names.
 */
export class NameSet {
  readonly #hashes: Int32Array;

  constructor(names: Iterable<string>) {
    this.#hashes = Int32Array.from(names, hashOf).sort();
  }

  has(name: string): boolean {
    const hash = hashOf(name);
    let low = 0;
    let high = this.#hashes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#hashes[middle]! < hash) low = middle + 1;
      else high = middle;
    }
    return this.#hashes[low] === hash;
  }
}

/** FNV-1a. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  }
  return hash | 0;
}
