const CHUNK_MAX = 512;

/**
 * A sorted set in chunks: an insertion into a hundred thousand values moves a few hundred, and nothing
 * is stored but the values themselves.
 */
export class SortedSet<Value> {
  readonly #compare: (a: Value, b: Value) => number;
  readonly #chunks: Value[][] = [];

  constructor(compare: (a: Value, b: Value) => number) {
    this.#compare = compare;
  }

  get isEmpty(): boolean {
    return this.#chunks.length === 0;
  }

  first(): Value | undefined {
    return this.#chunks[0]?.[0];
  }

  add(value: Value): void {
    const at = Math.min(this.#chunkOf(value), this.#chunks.length - 1);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([value]);
      return;
    }
    const place = this.#placeIn(chunk, value);
    if (place < chunk.length && this.#compare(chunk[place]!, value) === 0) return;
    chunk.splice(place, 0, value);
    // A chunk that grows only at its end stays full, as most do, since ids rise.
    if (chunk.length > CHUNK_MAX) {
      const half = place === CHUNK_MAX ? CHUNK_MAX : CHUNK_MAX >> 1;
      this.#chunks.splice(at + 1, 0, chunk.splice(half));
    }
  }

  delete(value: Value): void {
    const at = this.#chunkOf(value);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    const place = this.#placeIn(chunk, value);
    if (place === chunk.length || this.#compare(chunk[place]!, value) !== 0) return;
    chunk.splice(place, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** The values in order, optionally after a given one. */
  *after(value?: Value): Generator<Value> {
    let at = value === undefined ? 0 : this.#chunkOf(value);
    let place = 0;
    if (value !== undefined && at < this.#chunks.length) {
      const chunk = this.#chunks[at]!;
      place = this.#placeIn(chunk, value);
      if (place < chunk.length && this.#compare(chunk[place]!, value) === 0) place++;
    }
    for (; at < this.#chunks.length; at++, place = 0) {
      const chunk = this.#chunks[at]!;
      for (; place < chunk.length; place++) yield chunk[place]!;
    }
  }

  /** The first chunk whose last value is not before this one. */
  #chunkOf(value: Value): number {
    return lowest(
      this.#chunks.length,
      (at) => this.#compare(this.#chunks[at]!.at(-1)!, value) >= 0,
    );
  }

  #placeIn(chunk: readonly Value[], value: Value): number {
    return lowest(chunk.length, (place) => this.#compare(chunk[place]!, value) >= 0);
  }
}

/** The lowest index from which on all match (binary search); the length if none does. */
function lowest(length: number, fits: (at: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
