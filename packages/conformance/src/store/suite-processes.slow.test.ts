import { describe, expect, test } from "vitest";
import { BROKEN_PROCESSES } from "./broken-fixture.ts";
import { casesFor, failing } from "./cases-fixture.ts";
import { openMemorySubject } from "./memory-fixture.ts";

const crashes = new Set(BROKEN_PROCESSES.map(([name]) => name));

describe("a store that breaks one promise when its process is killed fails the case about it:", () => {
  test.for(BROKEN_PROCESSES)("%s (%s)", { timeout: 120_000 }, async (pair, { skip }) => {
    const [name, module] = pair;
    const cases = casesFor(openMemorySubject, module).filter((each) => crashes.has(each.name));
    for (const { skip: reason } of cases) skip(reason !== undefined, reason);
    expect(await failing(cases)).toContain(name);
  });
});
