import { BoundedCache } from "@waybill/protocol/wire";
import { WaybillError } from "@waybill/protocol";

interface Bucket {
  tokens: number;
  at: number;
}

const KEPT = 100_000;

/** A rate per second for each key, and a burst on top (token bucket). */
export class Rates {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #buckets = new BoundedCache<string, Bucket>(KEPT);

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** How many milliseconds it is too early; 0 if it may be now, and then it is taken. */
  take(key: string, now: number, count = 1): number {
    const early = this.earlyMs(key, now, count);
    if (early === 0) this.charge(key, now, count);
    return early;
  }

  /**
   * The same without taking anything. An amount larger than the whole burst is allowed once the bucket
   * is full.
   */
  earlyMs(key: string, now: number, count = 1): number {
    if (count === 0) return 0;
    const missing = Math.min(count, this.#burst) - this.#at(key, now).tokens;
    return missing <= 0 ? 0 : Math.max(1, Math.ceil((missing / this.#perSecond) * 1000));
  }

  /** Takes an amount, even if it is not there: later requests have to wait for it. */
  charge(key: string, now: number, count: number): void {
    const bucket = this.#at(key, now);
    bucket.tokens = Math.max(-this.#burst, bucket.tokens - count);
  }

  /** Refunds what was taken. */
  refund(key: string, now: number, count: number): void {
    const bucket = this.#at(key, now);
    bucket.tokens = Math.min(this.#burst, bucket.tokens + count);
  }

  #at(key: string, now: number): Bucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: this.#burst, at: now };
      this.#buckets.set(key, bucket);
    }
    const gained = (Math.max(0, now - bucket.at) / 1000) * this.#perSecond;
    bucket.tokens = Math.min(this.#burst, bucket.tokens + gained);
    bucket.at = now;
    return bucket;
  }
}

export function tooMany(who: string, retryAfterMs: number): WaybillError {
  return new WaybillError(
    301,
    `${who} exceeds the request rate of this hub; try again in ${retryAfterMs} ms.`,
    { retryAfterMs },
  );
}
