import type { Clock } from "@waybill/protocol/wire";

export interface HandClock extends Clock {
  /** Advances to the next timer; false if there is none. */
  next(): boolean;
  pass(ms: number): void;
  readonly waited: number;
}

/** A clock that stands still until it is advanced to its next timer. */
export function handClock(): HandClock {
  const timers: { at: number; callback: () => void }[] = [];
  let now = 0;
  return {
    now: () => now,
    setTimer(at, callback) {
      timers.push({ at, callback });
      return () => undefined;
    },
    next() {
      const timer = timers.shift();
      if (timer === undefined) return false;
      now = timer.at;
      timer.callback();
      return true;
    },
    pass(ms) {
      now += ms;
    },
    get waited() {
      return now;
    },
  };
}
