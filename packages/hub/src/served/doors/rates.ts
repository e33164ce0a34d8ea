import { WaybillError } from "@waybill/protocol";
import { Recent } from "../../custody/recent.ts";

interface Bucket {
  tokens: number;
  at: number;
}

const KEPT = 100_000;

/** So many a second for each key, and a burst on top. */
export class Rates {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new Recent<string, Bucket>(KEPT);

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** How many milliseconds it is too early; 0 where it may be now. */
  take(key: string, now: number, count = 1): number {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: this.#burst, at: now };
      this.#buckets.set(key, bucket);
    }
    const gained = (Math.max(0, now - bucket.at) / 1000) * this.#perSecond;
    bucket.tokens = Math.min(this.#burst, bucket.tokens + gained);
    bucket.at = now;
    if (bucket.tokens >= count) {
      bucket.tokens -= count;
      return 0;
    }
    return Math.max(1, Math.ceil(((count - bucket.tokens) / this.#perSecond) * 1000));
  }
}

export function tooMany(who: string, retryAfterMs: number): WaybillError {
  return new WaybillError(
    301,
    `${who} asks more often than this hub allows; try again in ${retryAfterMs} ms.`,
    { retryAfterMs },
  );
}
