/** Runs a few jobs of each owner at a time; the owner's other jobs wait in order. */
export class ConcurrencyLimit {
  readonly #most: number;
  readonly #waits: () => void;
  readonly #underWay = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** `waits` is called for each job that can't begin at once. */
  constructor(most: number, waits: () => void = () => undefined) {
    this.#most = most;
    this.#waits = waits;
  }

  async run<Value>(owner: string, work: () => Promise<Value>): Promise<Value> {
    const underWay = this.#underWay.get(owner) ?? 0;
    if (underWay < this.#most) this.#underWay.set(owner, underWay + 1);
    else await this.#place(owner);
    try {
      return await work();
    } finally {
      this.#leave(owner);
    }
  }

  #place(owner: string): Promise<void> {
    this.#waits();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(owner);
      if (waiting === undefined) this.#waiting.set(owner, [resolve]);
      else waiting.push(resolve);
    });
  }

  #leave(owner: string): void {
    const waiting = this.#waiting.get(owner);
    if (waiting !== undefined) {
      // The next job takes its place.
      waiting.shift()!();
      if (waiting.length === 0) this.#waiting.delete(owner);
      return;
    }
    const left = this.#underWay.get(owner)! - 1;
    if (left > 0) this.#underWay.set(owner, left);
    else this.#underWay.delete(owner);
  }
}
