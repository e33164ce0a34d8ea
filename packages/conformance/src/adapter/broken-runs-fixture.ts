import { killedCases } from "./cases/serve-killed.ts";
import type { AdapterFixture } from "./fixture.ts";
import { plainFixture } from "./plain-fixture.ts";
import type { Faults } from "./plain-fixture.ts";
import { adapterSuite } from "./suite.ts";

/** The cases of one direction that an adapter with these faults fails. */
export async function failedBy(direction: "serve" | "call", faults: Faults): Promise<string[]> {
  const { adapter, module, [direction]: side } = plainFixture(faults);
  const fixture: AdapterFixture = { adapter, module, [direction]: side };
  const failed: string[] = [];
  for (const { name, run } of adapterSuite(fixture, { patienceMs: 10_000 })) {
    // The processes that are killed do not have the fault.
    if (Object.hasOwn(killedCases, name)) continue;
    try {
      await run();
    } catch {
      failed.push(name);
    }
  }
  return failed;
}

export function casesOf(direction: "serve" | "call"): string[] {
  const { adapter, module, [direction]: side } = plainFixture();
  return adapterSuite({ adapter, module, [direction]: side }).map(({ name }) => name);
}

/** The cases about killed processes that an adapter fails. */
export async function failedByKilled(module: URL): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of adapterSuite({ ...plainFixture(), module })) {
    if (!Object.hasOwn(killedCases, name)) continue;
    try {
      await run();
    } catch {
      failed.push(name);
    }
  }
  return failed;
}
