/// <reference types="node" />

export interface Memory {
  /** Megabytes of the hub's process, second by second; each kill restarts them. */
  readonly readings: readonly number[];
  /** The minimum of its heap in megabytes, around half time and towards the end: what it retains. */
  readonly half: number;
  readonly end: number;
}

const EACH_MS = 1_000;
/** How much more a hub may retain in the second half, because its caches are still filling. */
export const GROWTH_AT_MOST_MB = 64;

/** Watches the memory of a hub by its own metrics. */
export class MemoryWatch {
  readonly #url: () => string;
  readonly #readings: number[] = [];
  readonly #heaps: number[] = [];
  readonly #timer: NodeJS.Timeout;
  #reading: Promise<void> = Promise.resolve();

  constructor(url: () => string) {
    this.#url = url;
    this.#timer = setInterval(() => {
      this.#reading = this.#read();
    }, EACH_MS);
  }

  async #read(): Promise<void> {
    try {
      const page = await (await fetch(`${this.#url()}/metrics`)).text();
      this.#readings.push(megabytes(/^process_resident_memory_bytes (\S+)$/m.exec(page)));
      this.#heaps.push(megabytes(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(page)));
    } catch {
      // It is being killed.
    }
  }

  async stop(): Promise<Memory> {
    clearInterval(this.#timer);
    await this.#reading;
    const heaps = this.#heaps;
    const least = (from: number, to: number): number =>
      Math.min(...heaps.slice(Math.floor(heaps.length * from), Math.ceil(heaps.length * to)));
    return { readings: this.#readings, half: least(0.3, 0.6), end: least(0.7, 1) };
  }
}

function megabytes(found: RegExpExecArray | null): number {
  return Math.round(Number(found?.[1] ?? 0) / 2 ** 20);
}
