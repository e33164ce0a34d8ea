import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import type { HandoffHandle } from "./index.ts";
import { settled, World } from "./world-fixture.ts";

const HOUR = 3_600_000;

function worker(world: World, order: unknown[], credit = 1): Agent {
  const agent = world.agent("worker", { credit });
  agent.serve("work", ({ input }) => {
    order.push(input);
    return "done";
  });
  return agent;
}

test("WB-101 work with a later start is in custody at once, and is offered at its start", async () => {
  const world = await World.open();
  const order: unknown[] = [];
  await worker(world, order).start();
  const startsAt = world.clock.now() + HOUR;
  const owner = world.agent("owner");
  const handoff = owner.handoff({ capability: "work", input: 1, notBefore: new Date(startsAt) });
  await handoff.custody;
  // Five minutes from its start on, the default time limit.
  expect(Date.parse(handoff.envelope.deadline)).toBe(startsAt + 300_000);
  await world.clock.advance(HOUR - 1);
  expect(order).toEqual([]);
  expect(await world.server.handoff(handoff.id, "owner")).toMatchObject({
    state: "open",
    attempts: [],
    startsAt,
  });
  await world.clock.advance(1);
  await expect(handoff.result).resolves.toMatchObject({ output: "done" });
  expect(await world.server.handoff(handoff.id, "owner")).not.toHaveProperty("startsAt");
  expect((await world.check()).violations).toEqual([]);
});

test("WB-101 a later start survives a restart of the hub", async () => {
  const world = await World.open();
  const order: unknown[] = [];
  const startsAt = world.clock.now() + HOUR;
  const before = worker(world, order);
  await before.start();
  const owner = world.agent("owner");
  const options = { capability: "work", input: 1, notBefore: new Date(startsAt) };
  const handoff = owner.handoff(options);
  await handoff.custody;
  await world.down();
  await world.up();
  await world.clock.advance(HOUR - 1);
  expect(order).toEqual([]);
  await world.clock.advance(1);
  await expect(handoff.result).resolves.toMatchObject({ output: "done" });
  expect(order).toEqual([1]);
});

test("WB-101 the deadline applies to a later start, and a deadline before the start is refused", async () => {
  const world = await World.open();
  await worker(world, []).start();
  const owner = world.agent("owner");
  const now = world.clock.now();
  const notBefore = new Date(now + HOUR);
  const work = { capability: "work", notBefore };
  const early = owner.handoff({ ...work, deadline: new Date(now + HOUR) });
  await expect(early.result).rejects.toMatchObject({ status: 400, at: "/not_before" });
  const cancelled = owner.handoff({ ...work, deadline: new Date(now + 2 * HOUR) });
  await cancelled.custody;
  await expect(cancelled.cancel()).resolves.toBe(true);
});

/** Hands off while no recipient is attached; each handoff has a name. */
async function queue(
  world: World,
  owner: Agent,
  waiting: readonly (readonly [name: string, priority?: number])[],
): Promise<HandoffHandle[]> {
  const handles: HandoffHandle[] = [];
  for (const [input, priority] of waiting) {
    const handle = owner.handoff({ capability: "work", input, priority, timeoutMs: HOUR });
    await handle.custody;
    handles.push(handle);
    await world.clock.advance(1_000);
  }
  return handles;
}

test("WB-102 waiting work is offered by priority, and in order of arrival within one priority", async () => {
  const world = await World.open();
  const order: unknown[] = [];
  const away = worker(world, order);
  await away.start();
  await away.stop();
  const owner = world.agent("owner");
  const handles = await queue(world, owner, [
    ["usual"],
    ["low", 0],
    ["urgent", 9],
    ["usual too", 4],
    ["urgent too", 9],
  ]);
  const named = owner.handoff({ to: "worker", capability: "work", input: "by name", priority: 7 });
  await named.custody;
  await worker(world, order).start();
  for (const each of [...handles, named]) await each.result;
  expect(order).toEqual(["urgent", "urgent too", "by name", "usual", "usual too", "low"]);
});

test("WB-102 the least urgent work is done during a flood of the most urgent", async () => {
  const world = await World.open();
  const order: unknown[] = [];
  const slow = world.agent("worker", { credit: 1 });
  slow.serve("work", ({ input }) => {
    order.push(input);
    return new Promise((resolve) => {
      world.clock.setTimer(world.clock.now() + 10_000, () => resolve("done"));
    });
  });
  await slow.start();
  const owner = world.agent("owner");
  const [, low] = await queue(world, owner, [
    ["busy", 9],
    ["low", 0],
  ]);
  let isDone = false;
  void low!.result.then(() => (isDone = true));
  const since = world.clock.now();
  // Twice as much as can be done, all of it urgent.
  const flood: HandoffHandle[] = [];
  while (!isDone && world.clock.now() - since < HOUR) {
    for (const _ of [1, 2]) {
      const timeoutMs = 4 * HOUR;
      flood.push(owner.handoff({ capability: "work", input: "urgent", priority: 9, timeoutMs }));
    }
    await Promise.all(flood.slice(-2).map(({ custody }) => custody));
    await world.clock.advance(10_000);
  }
  expect(isDone).toBe(true);
  // Nine steps of priority are worth nine minutes, in which twice as much arrived as can be done in
  // that time.
  expect(world.clock.now() - since).toBeLessThan(20 * 60_000);
  expect(order.indexOf("low")).toBeGreaterThan(50);
  await settled();
});
