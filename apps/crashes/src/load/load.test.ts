import { expect, test } from "vitest";
import { runLoad } from "./load-run.ts";

test("agents that hand off to each other through a hub that is killed lose nothing", async () => {
  const plan = { agents: 10, seconds: 4, kills: 2 };
  const { properties, tally } = await runLoad(plan, () => undefined);
  expect(properties.flatMap(({ problems }) => problems)).toEqual([]);
  expect(tally.completed).toBeGreaterThan(10);
});
