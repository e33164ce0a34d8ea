/** A repeatable source of random numbers: the seed suffices to reproduce a failure. */
export class Random {
  readonly #seed: number;
  readonly #name: string;
  #state: number;

  constructor(seed: number, name = "") {
    let state = (seed ^ Math.floor(seed / 2 ** 32)) >>> 0;
    for (let index = 0; index < name.length; index++) {
      state = Math.imul(state ^ name.charCodeAt(index), 0x01000193) >>> 0;
    }
    this.#seed = seed;
    this.#name = name;
    this.#state = Math.imul(state ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  }

  /** An independent source for one part of the world, or for a part of that. */
  stream(name: string): Random {
    return new Random(this.#seed, this.#name === "" ? name : `${this.#name}/${name}`);
  }

  /** In [0, 1) (mulberry32). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  /** An integer from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** An integer from `least` to `most`, with few digits as likely as with many. */
  spread(least: number, most: number): number {
    return Math.round(least * (most / least) ** this.fraction());
  }

  chance(share: number): boolean {
    return this.fraction() < share;
  }

  pick<Value>(from: readonly Value[]): Value {
    return from[this.below(from.length)]!;
  }

  /** One of the names, each as often as its weight says. */
  weighed<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let left = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries.at(-1)![0];
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }
}
