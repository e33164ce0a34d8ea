import { FairQueue, inConcurrencySlot } from "@waybill/hub/serving";

type Work = () => void;

export interface FairSlotsOptions {
  /** Called for everything that has to wait for a slot. */
  readonly waited: () => void;
  /**
   * Starts a job that has waited, in a fair turn: `serveHub` gives it. It must be deferred if jobs are short: a slot that is freed and
   * taken within one turn of the event loop would let everybody through in that turn.
   */
  readonly begin: (who: string, work: Work) => void;
  /**
   * Whether a job that waits for something else gives up its slot: the hub calls
   * `leaveConcurrencySlot` for it, when it waits for a routing or a check by schema.
   */
  readonly mayLeave?: boolean;
}

/** Bounds concurrent jobs; the client with the fewest under way is admitted first. */
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
      // As many may wait without a slot as there are slots: each of them holds memory.
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
      // Background work has no slot to give up.
      hasLeft = true;
    }
  }

  /** The next job gets the slot at once: nobody comes in between. */
  #leave(): void {
    const next = this.#queue.next();
    if (next === undefined) return void this.#taken--;
    this.#queue.charge(next.name, 1);
    this.#begin(next.name, next.job);
  }
}
