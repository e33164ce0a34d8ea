import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ratioOf } from "../ratio.ts";
import { hub } from "./group.ts";
import { hasRedis } from "./redis.ts";

const { cases, ratios } = hub();
const isThere = await hasRedis();

// The bench installs Redis where it is missing; tests change nothing on the machine that they run on.
describe.each(cases.filter(({ name }) => isThere || !name.includes("Redis")))("$name", (each) => {
  beforeAll(() => each.prepare?.());
  afterAll(() => each.dispose?.());

  test("runs", async () => {
    for (let i = 0; i < 2; i++) {
      await expect(each.run(each.opsPerRun ?? 1, () => 0)).resolves.toBeUndefined();
    }
  }, 60_000);
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
