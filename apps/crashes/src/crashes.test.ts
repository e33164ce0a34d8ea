import { expect, test } from "vitest";
import { planFrom } from "./plan/plan.ts";
import type { Topology } from "./plan/plan.ts";
import { tryPlan } from "./trial.ts";

// Much longer than a run takes: a run that stalls gives up by itself, with its name.
const TIMEOUT_MS = 600_000;

test.each<[Topology, number]>([
  ["hub_apart", 20],
  ["hub_inside", 12],
])(
  "%s: nothing is lost or duplicated, though processes are killed at any moment",
  async (topology, handoffs) => {
    const plan = planFrom(7, handoffs, Math.ceil(handoffs / 3), topology);
    const { properties, summary } = await tryPlan(plan, () => undefined);
    expect(properties.filter(({ problems }) => problems.length > 0)).toEqual([]);
    expect(Object.values(summary.kills).reduce((sum, count) => sum + count, 0)).toBe(
      plan.kills.length,
    );
  },
  TIMEOUT_MS,
);
