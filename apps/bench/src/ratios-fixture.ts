import { expect, test } from "vitest";
import type { Group } from "./group.ts";
import { ratioOf } from "./ratio.ts";

/** Otherwise a ratio with an unknown case would be noticed only after minutes of measuring. */
export function testRatios({ cases, ratios }: Group): void {
  test("every ratio refers to cases of the group", () => {
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
}
