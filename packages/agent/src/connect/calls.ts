/// <reference types="node" />
import { WaybillError } from "@waybill/protocol";

interface PendingCall {
  readonly name: string;
  readonly until: number;
  resolve(value: unknown): void;
  reject(error: WaybillError): void;
}

/** The calls over one socket that wait for an answer. None waits longer than the limit. */
export class Calls {
  readonly #withinMs: number;
  /** In the order in which they were made, which is that of their timeouts. */
  readonly #waiting = new Map<number, PendingCall>();
  #timer: NodeJS.Timeout | undefined;
  #last = 0;

  constructor(withinMs: number) {
    this.#withinMs = withinMs;
  }

  /** A call's number, and a promise of its answer. */
  add(name: string): { readonly number: number; readonly answer: Promise<unknown> } {
    const number = ++this.#last;
    const until = performance.now() + this.#withinMs;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(number, { name, until, resolve, reject });
    });
    this.#arm(this.#withinMs);
    return { number, answer };
  }

  /** One answer to one call, or to several. */
  resolve(numbers: readonly number[], value: unknown): void {
    for (const number of numbers) this.#remove(number)?.resolve(value);
  }

  reject(number: number, error: WaybillError): void {
    this.#remove(number)?.reject(error);
  }

  rejectAll(error: WaybillError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    clearTimeout(this.#timer);
  }

  /** An answer that comes too late is dropped. */
  #remove(number: number): PendingCall | undefined {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    return waiting;
  }

  /** One timer for all calls: that of the oldest. */
  #arm(ms: number): void {
    this.#timer ??= setTimeout(() => this.#expire(), ms);
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [number, { name, until, reject }] of this.#waiting) {
      if (until > now) return this.#arm(until - now);
      this.#waiting.delete(number);
      reject(unanswered(name, this.#withinMs));
    }
  }
}

function unanswered(name: string, ms: number): WaybillError {
  return new WaybillError(
    503,
    `The hub has not answered "${name}" in ${ms / 1000} s, though it is connected, so the outcome is unknown. It is safe to retry: the hub applies the same request once.`,
  );
}
