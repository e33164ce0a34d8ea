/** How many deltas one attempt may send. More are dropped. */
export class DeltaRate {
  readonly #aSecond: number;
  #left: number;
  #at = 0;

  constructor(aSecond: number) {
    this.#aSecond = aSecond;
    this.#left = aSecond;
  }

  take(now: number): boolean {
    const since = Math.max(0, now - this.#at);
    this.#left = Math.min(this.#aSecond, this.#left + (since * this.#aSecond) / 1000);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
