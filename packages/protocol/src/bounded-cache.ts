import { InFlight } from "./in-flight.ts";

/**
 * A cache that evicts the least recently used entries once its values weigh too much. It drops all
 * entries at once that were last used before half of the weight came in, so that a lookup costs next
 * to nothing.
 */
export class BoundedCache<Key, Value> {
  readonly #capacity: number;
  readonly #weigh: (value: Value) => number;
  #young = new InFlight<Key, Value>();
  #old = new InFlight<Key, Value>();
  #youngWeight = 0;

  constructor(capacity: number, weigh: (value: Value) => number = () => 1) {
    this.#capacity = capacity;
    this.#weigh = weigh;
  }

  get(key: Key): Value | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: Key, value: Value): void {
    const weight = this.#weigh(value);
    if (weight > this.#capacity) return this.delete(key);
    const before = this.#young.get(key);
    if (before !== undefined) this.#youngWeight -= this.#weigh(before);
    // An outdated value may stay in the old generation, where nobody sees it: the young one is looked
    // up first.
    this.#young.set(key, value);
    this.#youngWeight += weight;
    if (this.#youngWeight <= this.#capacity / 2) return;
    this.#old = this.#young;
    this.#young = new InFlight();
    this.#youngWeight = 0;
  }

  delete(key: Key): void {
    if (this.#old.size > 0) this.#old.delete(key);
    const value = this.#young.get(key);
    if (value === undefined) return;
    this.#young.delete(key);
    this.#youngWeight -= this.#weigh(value);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngWeight = 0;
  }
}
