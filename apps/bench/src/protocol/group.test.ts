import { expect, test } from "vitest";
import { ratioOf } from "../ratio.ts";
import { protocol } from "./group.ts";

const { cases, ratios } = protocol();

// What needs preparing is the import of the compiled package: nothing to compile for a unit test.
test.each(cases.filter((each) => each.prepare === undefined))("$name runs", async (each) => {
  for (let i = 0; i < 3; i++) await each.run(2 * (each.opsPerRun ?? 1), () => 0);
});

test("every ratio speaks of cases of the group", () => {
  const results = cases.map(({ name }) => ({
    name,
    rates: [1],
    perSecond: 1,
    p50Ms: 1,
    p99Ms: 1,
    spreadPercent: 0,
  }));
  expect(ratios.map((ratio) => ratioOf(ratio, results))).toHaveLength(ratios.length);
});
