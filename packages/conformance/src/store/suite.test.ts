import { describe, expect, test } from "vitest";
import { BROKEN_PROCESSES, BROKEN_STORES } from "./broken-fixture.ts";
import { memoryProcess, openMemorySubject } from "./memory-fixture.ts";
import type { DurableStoreSubject, StoreCase } from "./subject.ts";
import { storeSuite } from "./suite.ts";

const crashes = Object.keys(BROKEN_PROCESSES);

function casesFor(
  open: () => Promise<DurableStoreSubject>,
  module: URL = memoryProcess.module,
): StoreCase[] {
  return storeSuite({ isDurable: true, open, process: { ...memoryProcess, module } });
}

async function failing(cases: readonly StoreCase[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, run } of cases) {
    try {
      await run();
    } catch {
      names.push(name);
    }
  }
  return names;
}

test("there is a broken store for every case, and a case for every broken store", () => {
  const names = casesFor(openMemorySubject).map(({ name }) => name);
  expect([...Object.keys(BROKEN_STORES), ...crashes].toSorted()).toEqual(names.toSorted());
  expect(new Set(names).size).toBe(names.length);
});

describe("a store that breaks one promise fails exactly the case about it:", () => {
  test.for(Object.entries(BROKEN_STORES))("%s", async ([name, open]) => {
    // In the processes that are killed there is nothing of what broke this one.
    const cases = casesFor(open).filter((each) => !crashes.includes(each.name));
    expect(await failing(cases)).toEqual([name]);
  });

  test.for(Object.entries(BROKEN_PROCESSES))(
    "%s (in processes)",
    { timeout: 120_000 },
    async (pair, { skip }) => {
      const [name, module] = pair;
      const cases = casesFor(openMemorySubject, module).filter((each) =>
        crashes.includes(each.name),
      );
      for (const { skip: reason } of cases) skip(reason !== undefined, reason);
      expect(await failing(cases)).toContain(name);
    },
  );
});
