import { describe, test } from "vitest";
import { storeSuite } from "./store/suite.ts";
import type { StoreSuiteOptions } from "./store/subject.ts";

/** The suite as vitest's tests. What can't run here is shown as skipped, with the reason. */
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
