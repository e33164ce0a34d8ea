import type { Clock } from "@waybill/agent";

/** A clock that a case can advance. */
export interface MovableClock extends Clock {
  /** Advances from timer to timer, and lets everything run that each one triggers. */
  advance(ms: number): Promise<void>;
}

/** A clock that stands still until a case advances it. Timers that are due fire at once. */
export class StillClock implements MovableClock {
  #now: number = Date.now();
  readonly #timers = new Set<{ at: number; callback: () => void }>();

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

  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settled();
      const [next] = [...this.#timers]
        .filter(({ at }) => at <= end)
        .toSorted((one, other) => one.at - other.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
    }
    this.#now = end;
    await settled();
  }
}

/** A clock that runs, as in other processes, and that a case can advance as well. */
export class RunningClock implements MovableClock {
  readonly #timers = new Set<{ at: number; callback: () => void }>();
  #ahead = 0;

  now(): number {
    return Date.now() + this.#ahead;
  }

  setTimer(at: number, callback: () => void): () => void {
    const timer = { at, callback };
    this.#timers.add(timer);
    const wait = Math.min(Math.max(0, at - this.now()), LONGEST_MS);
    const waiting = setTimeout(() => this.#timers.delete(timer) && callback(), wait);
    return () => {
      clearTimeout(waiting);
      this.#timers.delete(timer);
    };
  }

  async advance(ms: number): Promise<void> {
    const end = this.now() + ms;
    for (;;) {
      await settled();
      const [next] = [...this.#timers]
        .filter(({ at }) => at <= end)
        .toSorted((one, other) => one.at - other.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#ahead += Math.max(0, next.at - this.now());
      next.callback();
    }
    this.#ahead += Math.max(0, end - this.now());
    await settled();
  }
}

/** The longest delay of a platform timer; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Settles when everything in memory has been delivered. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) await new Promise((resolve) => setImmediate(resolve));
}
