/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";
import type { Work } from "../serving/work.ts";

const storage = new AsyncLocalStorage<Work>();

/** Runs a framework so that its handoffs are recorded as children of this work. */
export function during<Value>(work: Work, run: () => Value): Value {
  return storage.run(work, run);
}

/** The work inside which this code runs, through any layers that a framework has put in between. */
export function currentWork(): Work | undefined {
  return storage.getStore();
}
