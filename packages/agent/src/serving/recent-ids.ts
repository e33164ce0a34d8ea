/**
 * A set of recent ids: it keeps at least the given number, and drops older ones all at once. Dropping
 * them one by one would keep rebuilding the set, at a cost to the garbage collector.
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
