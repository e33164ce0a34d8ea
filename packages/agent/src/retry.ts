/** Which failures to try again after, and when. */
export interface RetryRules {
  /** The wait before the next try, after this many failures. */
  readonly waitMs: (failures: number) => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Whether to try again after `waitMs`. An error thrown here takes the place of the one of the try. */
  readonly mayRetry: (error: unknown, waitMs: number) => boolean;
}

/** Tries until it succeeds or may not be tried again. With earlier failures, the first try is delayed too. */
export async function retryWhile<Value>(
  attempt: () => Promise<Value>,
  { waitMs, sleep, mayRetry }: RetryRules,
  failures: number = 0,
): Promise<Value> {
  if (failures > 0) await sleep(waitMs(failures));
  for (let failed = failures + 1; ; failed++) {
    try {
      return await attempt();
    } catch (error) {
      const wait = waitMs(failed);
      if (!mayRetry(error, wait)) throw error;
      await sleep(wait);
    }
  }
}
