import type { Clock } from "@waybill/agent";

/** A clock that a case can move on. */
export interface MovableClock extends Clock {
  /** Moves time on from timer to timer, and lets what each one sets off run first. */
  advance(ms: number): Promise<void>;
}

/** Time that stands still until a case moves it on. What is due at once happens at once. */
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

/** Time that goes on by itself, as it does in other processes, and that a case can move on besides. */
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

/** The longest that a timer can wait; beyond, it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** Everything in memory that was on its way has arrived. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) await new Promise((resolve) => setImmediate(resolve));
}
