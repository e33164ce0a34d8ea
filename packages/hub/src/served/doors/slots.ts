import { FairQueue } from "../../fair-queue.ts";

type Work = () => void;

/** So many things at once; who has the fewest of them under way is let in first. */
export class Slots {
  readonly #most: number;
  readonly #waited: () => void;
  readonly #begin: (who: string, work: Work) => void;
  readonly #queue = new FairQueue<Work>();
  #taken = 0;

  /**
   * `begin`: begins what has waited. It must not do so at once where the work is short: a place that is
   * left and taken in one turn of the event loop lets everybody through in that turn.
   */
  constructor(most: number, waited: () => void, begin: (who: string, work: Work) => void) {
    this.#most = most;
    this.#waited = waited;
    this.#begin = begin;
  }

  async run<Value>(who: string, work: () => Promise<Value>): Promise<Value> {
    if (this.#taken < this.#most) {
      this.#taken++;
      return this.#do(work);
    }
    this.#waited();
    return new Promise<Value>((resolve) => {
      this.#queue.push(who, () => resolve(this.#do(work)));
    });
  }

  async #do<Value>(work: () => Promise<Value>): Promise<Value> {
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
    this.#begin(next.name, next.job);
  }
}
