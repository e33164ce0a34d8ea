import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testRatios } from "../ratios-fixture.ts";
import { hub } from "./group.ts";
import { hasRedis } from "./redis.ts";

const group = hub();
const isThere = await hasRedis();

// The bench installs Redis if it is missing; tests must not change their machine.
describe.each(group.cases)("$name", (each) => {
  const canRun = isThere || !each.name.includes("Redis");
  beforeAll(() => (canRun ? each.prepare?.() : undefined));
  afterAll(() => each.dispose?.());

  test("runs", async ({ skip }) => {
    skip(!canRun, "redis-server is not installed here");
    for (let i = 0; i < 2; i++) {
      await expect(each.run(each.opsPerRun ?? 1, () => 0)).resolves.toBeUndefined();
    }
  }, 60_000);
});

testRatios(group);
