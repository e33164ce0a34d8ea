/// <reference types="node" />
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How much the heap may grow, beyond what survived a collection, before the next one. */
const GROWING_PERCENT = 30;
/** The limit of the young generation in Node 22. */
const YOUNG_BYTES = 32 * 1024 * 1024;

/**
 * Runs one full garbage collection, and makes V8 run the next ones early. Before the first collection
 * V8 lets the old generation grow to about 256 MB, and later to a multiple of the surviving size. A
 * flooded hub keeps little alive and creates much garbage.
 */
export function collectGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  boundYoungGeneration();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("globalThis.gc") as (() => void) | undefined;
  setFlagsFromString("--no-expose-gc");
  // A runtime without this function keeps its own limit.
  collect?.();
}

/**
 * Stops the growth of the young generation once it is large enough. On a machine with much memory, V8
 * lets it grow to 128 MB, and large objects in it to as much again before they are collected. V8
 * shrinks it in quiet times, after which it has to grow again.
 */
function boundYoungGeneration(): void {
  const observer = new PerformanceObserver(bound);
  observer.observe({ entryTypes: ["gc"] });
  bound();

  function bound(): void {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    // The size of one semi-space. The next step doubles both.
    const half = (young?.space_used_size ?? 0) + (young?.space_available_size ?? 0);
    setFlagsFromString(`--semi-space-growth-factor=${4 * half <= YOUNG_BYTES ? 2 : 1}`);
  }
}
