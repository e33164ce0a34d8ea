const FIRST_MS = 100;
const MOST_MS = 2_000;

/**
 * The delay before try `failures + 1`: exponential backoff, half of it jitter, so that the agents of a
 * hub that restarts do not all reconnect in the same instant.
 */
export function backoffMs(failures: number, random: () => number): number {
  const most = Math.min(MOST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return most / 2 + (random() * most) / 2;
}
