/** Does a few jobs of each one at a time; the others of the same name wait in their order. */
export class FewAtOnce {
  readonly #most: number;
  readonly #waits: () => void;
  readonly #underWay = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** `waits`: hears of each job that does not begin at once. */
  constructor(most: number, waits: () => void = () => undefined) {
    this.#most = most;
    this.#waits = waits;
  }

  async run<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
    const underWay = this.#underWay.get(name) ?? 0;
    if (underWay < this.#most) this.#underWay.set(name, underWay + 1);
    else await this.#place(name);
    try {
      return await work();
    } finally {
      this.#leave(name);
    }
  }

  #place(name: string): Promise<void> {
    this.#waits();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(name);
      if (waiting === undefined) this.#waiting.set(name, [resolve]);
      else waiting.push(resolve);
    });
  }

  #leave(name: string): void {
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) {
      // Its place goes to the next one.
      waiting.shift()!();
      if (waiting.length === 0) this.#waiting.delete(name);
      return;
    }
    const left = this.#underWay.get(name)! - 1;
    if (left > 0) this.#underWay.set(name, left);
    else this.#underWay.delete(name);
  }
}
