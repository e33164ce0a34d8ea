import type { Fault } from "./fault.ts";
import { fullName, patternOf, runVitest, TEST_MS } from "./test-process.ts";

export interface TestRun {
  readonly passed: ReadonlySet<string>;
  readonly failed: ReadonlySet<string>;
  readonly output: string;
}

/** Runs the tests of a file with these names, with or without a fault. */
export async function runTests(
  folder: string,
  file: string,
  names: readonly string[],
  fault?: Fault,
): Promise<TestRun> {
  const words = ["run", file, "--test-name-pattern", patternOf(names)];
  // Without a report no test has finished, so none has passed or failed.
  const { files = [], output } = await runVitest({ folder, words, limitMs: 5 * TEST_MS, fault });
  const results = files.flatMap(({ assertionResults }) => assertionResults);
  const named = (status: string) =>
    new Set(results.filter((each) => each.status === status).map(fullName));
  return { passed: named("passed"), failed: named("failed"), output };
}
