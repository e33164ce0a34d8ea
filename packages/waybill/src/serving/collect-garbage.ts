/// <reference types="node" />
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** By how much what is alive may grow until the next collection. V8 lets it grow to four times its size. */
const GROWING_PERCENT = 30;

/**
 * Runs one full garbage collection. Before the first one V8 lets the old generation grow to a fixed
 * size of some 256 MB, however little of it is alive; after it the limit follows what is alive, and closely:
 * a hub that is flooded has little alive and makes much garbage.
 */
export function collectGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("globalThis.gc") as (() => void) | undefined;
  setFlagsFromString("--no-expose-gc");
  // A runtime that offers none keeps its own limit.
  collect?.();
}
