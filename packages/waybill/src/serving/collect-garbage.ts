/// <reference types="node" />
import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How much the heap may grow, over what was alive after one collection, before the next one. */
const GROWING_PERCENT = 30;
/** What Node 22 lets the young generation grow to. */
const YOUNG_BYTES = 32 * 1024 * 1024;

/**
 * Runs one full garbage collection, and has V8 run the next ones early. Before the first collection V8
 * lets the old generation grow to some 256 MB, and later to a multiple of what is alive. A flooded hub
 * keeps little alive and makes much garbage.
 */
export function collectGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  boundYoungGeneration();
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("globalThis.gc") as (() => void) | undefined;
  setFlagsFromString("--no-expose-gc");
  // A runtime that offers none keeps its own limit.
  collect?.();
}

/**
 * Keeps the young generation from growing further once it is large enough. On a machine with much
 * memory V8 lets it grow to 128 MB, and large objects in it to as much again before they are collected.
 * V8 makes it smaller in quiet times, so that it has to grow again.
 */
function boundYoungGeneration(): void {
  const observer = new PerformanceObserver(bound);
  observer.observe({ entryTypes: ["gc"] });
  bound();

  function bound(): void {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    // One of its two halves; what it is next has two of twice the size.
    const half = (young?.space_used_size ?? 0) + (young?.space_available_size ?? 0);
    setFlagsFromString(`--semi-space-growth-factor=${4 * half <= YOUNG_BYTES ? 2 : 1}`);
  }
}
