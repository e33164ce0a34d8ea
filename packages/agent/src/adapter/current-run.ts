/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";
import type { Run } from "./run.ts";

const storage = new AsyncLocalStorage<Run>();

export function withRun<Value>(run: Run, play: () => Value): Value {
  return storage.run(run, play);
}

/** The run inside which this code is called, if an adapter's offer started it. */
export function currentRun(): Run | undefined {
  return storage.getStore();
}
