import { expect, test } from "vitest";
import { tryKills } from "./crashes-fixture.ts";

test("a parked graph that is killed anywhere is resumed, dispatched once and applied once", async () => {
  expect(await tryKills(7, 2)).toMatchObject({ faults: [] });
});
