import { expect, test } from "vitest";
import { settled, World } from "../world-fixture.ts";

/** What the worker has signed about a completed handoff, in order. */
async function saidBy(
  world: World,
  handler: Parameters<ReturnType<World["agent"]>["serve"]>[1],
): Promise<string[]> {
  const worker = world.agent("worker");
  worker.serve("work", handler);
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.result;
  expect(await handoff.accepted).toMatchObject({ by: "worker", attempt: 1 });
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  const kinds = await world.kinds(handoff.id);
  return kinds.slice(kinds.indexOf("offer") + 1, -1);
}

test("a result that is there at once stands for its acceptance", async () => {
  const world = await World.open();
  expect(await saidBy(world, () => "done")).toEqual(["result 200"]);
});

test("work that takes longer is accepted while it runs", async () => {
  const world = await World.open();
  const wait = (ms: number) =>
    new Promise<void>((resolve) => void world.clock.setTimer(world.clock.now() + ms, resolve));
  const slow = async () => {
    for (let turn = 0; turn < 5; turn++) await wait(10);
    return "done";
  };
  expect(await saidBy(world, slow)).toEqual(["receipt 101", "result 200"]);
});

test("everything that is said about the work comes after the acceptance", async () => {
  const world = await World.open();
  const said = await saidBy(world, async ({ progress }) => {
    await progress({ fraction: 0.5 });
    return "done";
  });
  expect(said).toEqual(["receipt 101", "progress", "result 200"]);
});
