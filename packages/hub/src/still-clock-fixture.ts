import type { Clock } from "@waybill/protocol/wire";

/** A clock that stands still until a test advances it. */
export class StillClock implements Clock {
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  #now = Date.now();

  now(): number {
    return this.#now;
  }

  setTimer(at: number, callback: () => void): () => void {
    if (at <= this.#now) {
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    }
    const timer = { at, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers].toSorted((a, b) => a.at - b.at)) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue;
      timer.callback();
    }
  }
}
