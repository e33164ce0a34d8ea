/** The time to start a hub and its honest pair, to kill the hub and to restart it. */
const AROUND_SECONDS = 5;
const SECONDS_AT_LEAST = 1.5;

/**
 * The duration of the next attack: the rest of the run is divided among the remaining classes. A
 * class that took longer than its share leaves less for the others, so the run ends in time.
 */
export function attackSeconds(msLeft: number, classesLeft: number): number {
  return Math.max(SECONDS_AT_LEAST, msLeft / 1000 / classesLeft - AROUND_SECONDS);
}
