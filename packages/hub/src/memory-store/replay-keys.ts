type ReplayKey = { readonly from: string; readonly id: string };

/**
 * Finds the entry of a sender and an id. The entries have the keys already, so that this keeps
 * sixteen bytes for each and nothing that a collector would have to walk: open addressing, a hash
 * beside each sequence, at most half full.
 */
export class ReplayKeys {
  readonly #keyOf: (sequence: number) => ReplayKey;
  #slots = new Uint32Array(2 * 1024);
  #size = 0;

  constructor(keyOf: (sequence: number) => ReplayKey) {
    this.#keyOf = keyOf;
  }

  add(key: ReplayKey, sequence: number): void {
    if (2 * ++this.#size > this.#slots.length / 2) this.#grow();
    this.#place(hashOf(key), sequence);
  }

  find(key: ReplayKey): number | undefined {
    const hash = hashOf(key);
    const mask = this.#slots.length / 2 - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const sequence = this.#slots[2 * slot + 1]!;
      if (sequence === 0) return undefined;
      if (this.#slots[2 * slot] !== hash) continue;
      const { from, id } = this.#keyOf(sequence);
      if (from === key.from && id === key.id) return sequence;
    }
  }

  #place(hash: number, sequence: number): void {
    const mask = this.#slots.length / 2 - 1;
    let slot = hash & mask;
    while (this.#slots[2 * slot + 1] !== 0) slot = (slot + 1) & mask;
    this.#slots[2 * slot] = hash;
    this.#slots[2 * slot + 1] = sequence;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(2 * old.length);
    for (let at = 0; at < old.length; at += 2) {
      if (old[at + 1] !== 0) this.#place(old[at]!, old[at + 1]!);
    }
  }
}

/** FNV-1a with a last stir: ids of one moment differ in their ends only. */
function hashOf({ from, id }: ReplayKey): number {
  let hash = 0x811c9dc5;
  for (const text of [from, "\0", id]) {
    for (let at = 0; at < text.length; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    }
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
