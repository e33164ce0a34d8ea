/** The events of a handoff, for a reader. Ends with the handoff. */
export class Stream<Item> implements AsyncIterable<Item> {
  readonly #items: Item[] = [];
  readonly #capacity: number;
  #wake: (() => void)[] = [];
  #isEnded = false;

  /** Nobody has to read: beyond the capacity the oldest items are dropped. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  push(item: Item): void {
    if (this.#isEnded) return;
    this.#items.push(item);
    if (this.#items.length > this.#capacity) this.#items.shift();
    this.#wakeAll();
  }

  end(): void {
    this.#isEnded = true;
    this.#wakeAll();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for (;;) {
      if (this.#items.length > 0) yield this.#items.shift()!;
      else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  #wakeAll(): void {
    const waiting = this.#wake;
    this.#wake = [];
    for (const resolve of waiting) resolve();
  }
}
