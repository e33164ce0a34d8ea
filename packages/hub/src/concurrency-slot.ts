/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";

/** Gives up the slot of the running call. */
const leaving = new AsyncLocalStorage<() => void>();

/** Does the work of a call that has one of a limited number of slots; `leave` gives it up. */
export function inConcurrencySlot<Value>(
  leave: () => void,
  work: () => Promise<Value>,
): Promise<Value> {
  return leaving.run(leave, work);
}

/** Gives up the slot of this call, if it has one: it waits for long, and does little afterwards. */
export function leaveConcurrencySlot(): void {
  leaving.getStore()?.();
}
