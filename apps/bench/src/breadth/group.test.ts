import { afterAll, beforeAll, describe, test } from "vitest";
import { testRatios } from "../ratios-fixture.ts";
import { breadth } from "./group.ts";

const group = breadth(20);

describe.each(group.cases)("$name", (each) => {
  beforeAll(() => each.prepare?.(), 120_000);
  afterAll(() => each.dispose?.(), 120_000);

  test("runs", async () => {
    await each.run(each.opsPerRun ?? 1, () => 0);
  }, 60_000);
});

testRatios(group);
