import { describe, expect, test } from "vitest";
import { BROKEN_PROCESSES, BROKEN_SERVING } from "./broken-serve-fixture.ts";
import { casesOf, failedBy, failedByKilled } from "./broken-runs-fixture.ts";

test("there is a broken adapter for every case, and a case for every broken adapter", () => {
  const broken = [...Object.keys(BROKEN_SERVING), ...Object.keys(BROKEN_PROCESSES)];
  expect(broken.toSorted()).toEqual(casesOf("serve").toSorted());
});

// Concurrently: most of the time is spent waiting for things that never happen.
describe.concurrent("an adapter that breaks one promise fails exactly the case about it:", () => {
  test.for(Object.entries(BROKEN_SERVING))("%s", async ([name, fault]) => {
    expect(await failedBy("serve", fault())).toEqual([name]);
  });

  test.for(Object.entries(BROKEN_PROCESSES))("%s (in processes)", async ([name, module]) => {
    expect(await failedByKilled(module)).toEqual([name]);
  });
});
