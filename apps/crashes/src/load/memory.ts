/// <reference types="node" />

export interface Memory {
  /** Megabytes of the hub's process, second by second; it begins anew with each kill. */
  readonly readings: readonly number[];
  /** The hub's heap and buffers as they were when the work was half done, and at its end. */
  readonly half: number;
  readonly end: number;
}

const EACH_MS = 1_000;
/** What a process that holds nothing back may have taken more in the second half of its time. */
export const GROWTH_AT_MOST = 1.25;

/** Watches the memory of a hub by the metrics that it gives of itself. */
export class MemoryWatch {
  readonly #url: () => string;
  readonly #readings: number[] = [];
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
      const bytes = Number(/^process_resident_memory_bytes (\S+)$/m.exec(page)?.[1]);
      if (bytes > 0) this.#readings.push(Math.round(bytes / 2 ** 20));
    } catch {
      // It is being killed.
    }
  }

  async stop(): Promise<Memory> {
    clearInterval(this.#timer);
    await this.#reading;
    const all = this.#readings;
    const about = (from: number, to: number): number =>
      median(all.slice(Math.floor(all.length * from), Math.ceil(all.length * to)));
    return { readings: all, half: about(0.4, 0.6), end: about(0.8, 1) };
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
