import { describe, expect, test } from "vitest";
import { BROKEN_CALLING } from "./broken-call-fixture.ts";
import { casesOf, failedBy } from "./broken-runs-fixture.ts";

test("there is a broken adapter for every case, and a case for every broken adapter", () => {
  expect(Object.keys(BROKEN_CALLING).toSorted()).toEqual(casesOf("call").toSorted());
});

// Concurrently: most of the time is spent waiting for things that never happen.
describe.concurrent("an adapter that breaks one promise fails exactly the case about it:", () => {
  test.for(Object.entries(BROKEN_CALLING))("%s", async ([name, fault]) => {
    expect(await failedBy("call", fault())).toEqual([name]);
  });
});
