import { describe, test } from "vitest";
import type { AdapterFixture } from "./adapter/fixture.ts";
import { adapterSuite } from "./adapter/suite.ts";
import { storeSuite } from "./store/suite.ts";
import type { StoreSuiteOptions } from "./store/subject.ts";

export { world } from "./world.ts";
export type { World } from "./world.ts";

/** The suite as vitest's tests. A case that can't run here is skipped with the reason. */
export function describeStore(name: string, options: StoreSuiteOptions): void {
  describe(name, () => {
    for (const { name: title, skip: reason, timeoutMs, run } of storeSuite(options)) {
      test(title, { timeout: timeoutMs }, async ({ skip }) => {
        skip(reason !== undefined, reason);
        await run();
      });
    }
  });
}

/**
 * The suite as vitest's tests. A declared gap is skipped with its reason; a stale gap fails.
 *
 * @example
 * ```ts
 * describeAdapter(fixture);
 * ```
 */
export function describeAdapter(fixture: AdapterFixture): void {
  describe(fixture.adapter, () => {
    for (const { name, timeoutMs, run } of adapterSuite(fixture)) {
      test(name, { timeout: timeoutMs }, async ({ skip }) => {
        const gap = await run();
        skip(gap !== undefined, gap);
      });
    }
  });
}
