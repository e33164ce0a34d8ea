/// <reference types="node" />

/** Time, handed in: a simulator runs agents on a virtual one. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once `at` has come, never before this call has returned; gives what disarms it. */
  setTimer(at: number, callback: () => void): () => void;
}

/** The longest that a timer can wait; beyond, it would fire at once. A deadline may be a year away. */
const LONGEST_MS = 2 ** 31 - 1;

/** The time of the system, by which everything lives that is not handed another. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    setTimer(at, callback) {
      const wait = at - Date.now();
      // A timer of nothing takes a millisecond, and much here is only put off to the next turn.
      if (wait <= 0 && typeof setImmediate === "function") {
        const immediate = setImmediate(callback);
        return () => clearImmediate(immediate);
      }
      let timer: ReturnType<typeof setTimeout>;
      const arm = (ms: number) => {
        timer = setTimeout(
          () => (ms > LONGEST_MS ? arm(ms - LONGEST_MS) : callback()),
          Math.min(Math.max(0, ms), LONGEST_MS),
        );
      };
      arm(wait);
      return () => clearTimeout(timer);
    },
  };
}
