/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";
import type { Work } from "../serving/work.ts";

const storage = new AsyncLocalStorage<Work>();

/** Runs a framework so that what it hands off itself is known to be a part of this work. */
export function during<Value>(work: Work, run: () => Value): Value {
  return storage.run(work, run);
}

/** The work in whose course this code runs, through whatever a framework has put in between. */
export function currentWork(): Work | undefined {
  return storage.getStore();
}
