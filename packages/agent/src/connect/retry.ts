/// <reference types="node" />
import { setTimeout } from "node:timers/promises";
import { WaybillError } from "@waybill/protocol";
import { retryWhile } from "../retry.ts";
import { backoffMs } from "./backoff.ts";
import { isTimeout } from "./unreachable.ts";

export interface RetryOptions {
  readonly withinMs: number;
  /** Ends the wait at once. */
  readonly signal: AbortSignal;
  /** Earlier failures: with any, the first try is delayed too. */
  readonly failures?: number;
  readonly waiting?: (error: WaybillError) => void;
}

/**
 * Retries temporary failures until the time is over, then throws the last one. Each try gets a signal
 * that aborts it when the time is over.
 */
export async function retry<Value>(
  attempt: (signal: AbortSignal) => Promise<Value>,
  options: RetryOptions,
): Promise<Value> {
  const { withinMs, signal, waiting, failures } = options;
  let last: WaybillError | undefined;
  const until = performance.now() + withinMs;
  const ending = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  const mayRetry = (error: unknown): boolean => {
    signal.throwIfAborted();
    if (!isTemporary(error)) return false;
    // Its timer may fire a moment before the clock says so.
    if (ending.aborted || performance.now() >= until) {
      // A try that was aborted by the time limit has a less useful error than the one before it.
      if (isTimeout(error.cause) && last !== undefined) throw last;
      return false;
    }
    last = error;
    waiting?.(error);
    return true;
  };
  const waitMs = (failed: number): number => backoffMs(failed, Math.random);
  const sleep = (ms: number): Promise<void> => pause(ms, signal);
  signal.throwIfAborted();
  return retryWhile(() => attempt(ending), { waitMs, sleep, mayRetry }, failures);
}

/** A 503 (unavailable) and a 301 (asked too often) are temporary; every other answer of the hub is final. */
function isTemporary(error: unknown): error is WaybillError {
  return WaybillError.is(error, 503) || WaybillError.is(error, 301);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    // Throw the reason of the abort, and not the error of the stopped timer.
    signal.throwIfAborted();
    throw error;
  }
}
