/// <reference types="node" />
import { spawnSync } from "node:child_process";
import { constants, PerformanceObserver } from "node:perf_hooks";
import type { NodeGCPerformanceDetail, PerformanceEntry } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { collectGarbage } from "./collect-garbage.ts";

type GcEntry = PerformanceEntry & { readonly detail: NodeGCPerformanceDetail };

test("the whole heap is collected, not only the young generation", async () => {
  const kinds: unknown[] = [];
  const seen = Promise.withResolvers<void>();
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as GcEntry[]) kinds.push(detail.kind);
    if (kinds.includes(constants.NODE_PERFORMANCE_GC_MAJOR)) seen.resolve();
  });
  observer.observe({ entryTypes: ["gc"] });
  collectGarbage();
  await seen.promise;
  observer.disconnect();
  expect(kinds).toContain(constants.NODE_PERFORMANCE_GC_MAJOR);
});

test("the young generation of a busy hub stays small", () => {
  const fixture = fileURLToPath(new URL("young-generation-fixture.ts", import.meta.url));
  // As on a machine with much memory.
  const { stdout, stderr } = spawnSync(process.execPath, ["--max-old-space-size=4096", fixture]);
  expect(String(stderr)).toBe("");
  // Without the limit it grows to 128 MB.
  expect(Number(String(stdout))).toBeLessThan(100);
});
