import { expect, test } from "vitest";
import { runLoad } from "./load-run.ts";

test("agents lose nothing while their hub is killed and restarted", async () => {
  const plan = { agents: 10, seconds: 4, kills: 2 };
  const { properties, tally } = await runLoad(plan, () => undefined);
  expect(properties.flatMap(({ problems }) => problems)).toEqual([]);
  expect(tally.completed).toBeGreaterThan(10);
});
