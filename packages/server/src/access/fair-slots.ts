import { FairQueue, inConcurrencySlot } from "@waybill/hub/serving";

type Work = () => void;

export interface FairSlotsOptions {
  /** Hears of everything that has to wait for a place. */
  readonly waited: () => void;
  /**
   * Begins what has waited. It must not do so at once where the work is short: a place that is left and
   * taken in one turn of the event loop lets everybody through in that turn.
   */
  readonly begin: (who: string, work: Work) => void;
  /** Whether work that waits for something else gives up its place (`leavePlace`). */
  readonly mayLeave?: boolean;
}

/** So many things at once; who has the fewest of them under way is let in first. */
export class FairSlots {
  readonly #most: number;
  readonly #waited: () => void;
  readonly #begin: (who: string, work: Work) => void;
  readonly #mayLeave: boolean;
  readonly #queue = new FairQueue<Work>();
  #taken = 0;
  #leftEarly = 0;

  constructor(most: number, { waited, begin, mayLeave = false }: FairSlotsOptions) {
    this.#most = most;
    this.#waited = waited;
    this.#begin = begin;
    this.#mayLeave = mayLeave;
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
    let hasLeft = false;
    const leave = (): void => {
      // As many may wait without a place as there are places: each of them holds memory.
      if (hasLeft || this.#leftEarly >= this.#most) return;
      hasLeft = true;
      this.#leftEarly++;
      this.#leave();
    };
    try {
      return await (this.#mayLeave ? inConcurrencySlot(leave, work) : work());
    } finally {
      if (hasLeft) this.#leftEarly--;
      else this.#leave();
      // Work that goes on in the background has no place to give up.
      hasLeft = true;
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
