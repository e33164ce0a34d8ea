/// <reference types="node" />

/** Time, handed in: a simulator runs the hub on a virtual one. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once `at` has come, never before this call has returned; gives what disarms it. */
  setTimer(at: number, callback: () => void): () => void;
}

/** The longest that Node can wait; beyond, it would fire at once. */
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
