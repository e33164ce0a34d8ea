/// <reference types="node" />
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Runs one full garbage collection. Before the first one V8 lets the old generation grow to a fixed
 * size of some 256 MB, however little of it is alive; after it the limit follows what is alive.
 */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("globalThis.gc") as (() => void) | undefined;
  setFlagsFromString("--no-expose-gc");
  // A runtime that offers none keeps its own limit.
  collect?.();
}
