import { FairQueue } from "../../fair-queue.ts";

/** So many things at once; who has the fewest of them under way is let in first. */
export class Slots {
  readonly #most: number;
  readonly #waited: () => void;
  readonly #queue = new FairQueue<() => void>();
  #taken = 0;

  constructor(most: number, waited: () => void) {
    this.#most = most;
    this.#waited = waited;
  }

  async run<Value>(who: string, work: () => Promise<Value>): Promise<Value> {
    if (this.#taken >= this.#most) {
      this.#waited();
      await new Promise<void>((resolve) => this.#queue.push(who, resolve));
    } else this.#taken++;
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** Whoever is next has the place at once: nobody comes in between. */
  #leave(): void {
    const next = this.#queue.next();
    if (next === undefined) return void this.#taken--;
    this.#queue.charge(next.name, 1);
    next.job();
  }
}
