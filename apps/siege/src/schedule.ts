/** To start a hub and its honest pair, to kill the hub and to start it again. */
const AROUND_SECONDS = 5;
const SECONDS_AT_LEAST = 1.5;

/**
 * How long the next attack lasts: what is left of the run is shared among the classes that are left.
 * A class that took longer than its share leaves less for the others, so the run ends in time.
 */
export function attackSeconds(msLeft: number, classesLeft: number): number {
  return Math.max(SECONDS_AT_LEAST, msLeft / 1000 / classesLeft - AROUND_SECONDS);
}
