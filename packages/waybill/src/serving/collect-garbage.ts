/// <reference types="node" />
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How much the heap may grow, over what was alive after one collection, before the next one. */
const GROWING_PERCENT = 30;

/**
 * Runs one full garbage collection, and has V8 run the next ones early. Before the first collection V8
 * lets the old generation grow to some 256 MB, and later to a multiple of what is alive. A flooded hub
 * keeps little alive and makes much garbage.
 */
export function collectGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("globalThis.gc") as (() => void) | undefined;
  setFlagsFromString("--no-expose-gc");
  // A runtime that offers none keeps its own limit.
  collect?.();
}
