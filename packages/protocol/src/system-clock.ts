/// <reference types="node" />

/** The clock, passed in so that a simulator can run hubs and agents in virtual time. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back at `at`, never before this call has returned; returns a function that disarms it. */
  setTimer(at: number, callback: () => void): () => void;
}

/** The longest delay of a platform timer; a longer one would fire at once. A deadline may be a year away. */
const LONGEST_MS = 2 ** 31 - 1;

/** The system's clock, the default everywhere. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    setTimer(at, callback) {
      const wait = at - Date.now();
      // A timer of 0 ms takes a millisecond, and many callbacks here are only deferred to the next
      // turn.
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
