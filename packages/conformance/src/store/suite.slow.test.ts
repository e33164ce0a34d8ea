import { describe, expect, test } from "vitest";
import { BROKEN_PROCESSES, BROKEN_STORES } from "./broken-fixture.ts";
import { casesFor, failing } from "./cases-fixture.ts";
import { openMemorySubject } from "./memory-fixture.ts";

const crashes = [...new Set(BROKEN_PROCESSES.map(([name]) => name))];

test("there is a broken store for every case, and a case for every broken store", () => {
  const names = casesFor(openMemorySubject).map(({ name }) => name);
  expect([...Object.keys(BROKEN_STORES), ...crashes].toSorted()).toEqual(names.toSorted());
  expect(new Set(names).size).toBe(names.length);
});

describe("a store that breaks one promise fails exactly the case about it:", () => {
  test.for(Object.entries(BROKEN_STORES))("%s", async ([name, open]) => {
    // The processes that are killed do not have the fault.
    const cases = casesFor(open).filter((each) => !crashes.includes(each.name));
    expect(await failing(cases)).toEqual([name]);
  });
});
