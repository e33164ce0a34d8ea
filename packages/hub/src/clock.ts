/// <reference types="node" />

/** The clock, passed in so that a simulator can run the hub in virtual time. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back at `at`, never before this call has returned; returns a function that disarms it. */
  setTimer(at: number, callback: () => void): () => void;
}

/** The longest delay of Node's timers; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The clock of the machine. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    setTimer(at, callback) {
      const wait = at - Date.now();
      if (wait <= 0) {
        const immediate = setImmediate(callback);
        return () => clearImmediate(immediate);
      }
      const timer = setTimeout(callback, Math.min(wait, LONGEST_MS));
      return () => clearTimeout(timer);
    },
  };
}
