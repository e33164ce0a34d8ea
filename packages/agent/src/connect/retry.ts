/// <reference types="node" />
import { setTimeout as sleep } from "node:timers/promises";
import { WaybillError } from "@waybill/protocol";
import { backoffMs } from "./backoff.ts";
import { isTimeout } from "./unreachable.ts";

export interface RetryOptions {
  readonly withinMs: number;
  /** Ends the waiting at once. */
  readonly signal: AbortSignal;
  /** Failures before this: the first try waits then too. */
  readonly failures?: number;
  readonly waiting?: (error: WaybillError) => void;
}

/**
 * Tries for as long as what fails is passing and there is time, then gives the last failure. A try is
 * given a signal that ends it when the time is over.
 */
export async function retry<Value>(
  attempt: (signal: AbortSignal) => Promise<Value>,
  options: RetryOptions,
): Promise<Value> {
  const { withinMs, signal, waiting } = options;
  let { failures = 0 } = options;
  let last: WaybillError | undefined;
  const until = performance.now() + withinMs;
  const ending = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  for (;;) {
    signal.throwIfAborted();
    if (failures > 0) await pause(backoffMs(failures, Math.random), signal);
    try {
      return await attempt(ending);
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      // A try that was cut off when the time was over says less than the one before it.
      if (performance.now() >= until) throw isTimeout(error.cause) ? (last ?? error) : error;
      last = error;
      failures++;
      waiting?.(error);
    }
  }
}

/** The hub can't now, or not so often; everything else that it says is meant. */
function isPassing(error: unknown): error is WaybillError {
  return WaybillError.is(error, 503) || WaybillError.is(error, 301);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    // What is thrown is the reason, and not that a timer was stopped.
    signal.throwIfAborted();
    throw error;
  }
}
