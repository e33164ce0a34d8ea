/** Names that were seen lately: the oldest make room. */
export class Lately {
  readonly #names = new Set<string>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  add(name: string): void {
    this.#names.add(name);
    if (this.#names.size > this.#capacity) {
      this.#names.delete(this.#names.values().next().value as string);
    }
  }
}
