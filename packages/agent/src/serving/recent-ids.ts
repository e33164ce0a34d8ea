/**
 * Names that were seen lately: at least so many, and all at once those before them make room. One
 * by one they would leave a set that is rebuilt all the time, which a collector pays for.
 */
export class RecentIds {
  #young = new Set<string>();
  #old: ReadonlySet<string> = new Set();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(name: string): boolean {
    return this.#young.has(name) || this.#old.has(name);
  }

  add(name: string): void {
    this.#young.add(name);
    if (this.#young.size < this.#capacity) return;
    this.#old = this.#young;
    this.#young = new Set();
  }
}
