import { expect, test } from "vitest";
import { tryKills } from "./crashes-fixture.ts";

test("a parked graph that is killed at any point is resumed, with its work dispatched once and its result applied once", async () => {
  expect(await tryKills(7, 2)).toMatchObject({ faults: [] });
});
