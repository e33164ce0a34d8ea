interface Box<Value> {
  value: Value | undefined;
}

/**
 * A map for high-churn keys. When a `Map` of V8 grows or shrinks, its old table keeps its entries and
 * points to the new one. Once one table has been moved to the old generation, everything that was in
 * any later table counts as alive until a full garbage collection. Here a deleted entry leaves nothing
 * but an empty box.
 */
export class InFlight<Key, Value> {
  readonly #boxes = new Map<Key, Box<Value>>();

  get size(): number {
    return this.#boxes.size;
  }

  has(key: Key): boolean {
    return this.#boxes.has(key);
  }

  get(key: Key): Value | undefined {
    return this.#boxes.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    const box = this.#boxes.get(key);
    if (box === undefined) this.#boxes.set(key, { value });
    else box.value = value;
  }

  delete(key: Key): boolean {
    const box = this.#boxes.get(key);
    if (box === undefined) return false;
    box.value = undefined;
    return this.#boxes.delete(key);
  }

  clear(): void {
    for (const box of this.#boxes.values()) box.value = undefined;
    this.#boxes.clear();
  }

  keys(): MapIterator<Key> {
    return this.#boxes.keys();
  }

  *values(): Generator<Value> {
    for (const { value } of this.#boxes.values()) yield value as Value;
  }
}
