import { expect, test } from "vitest";
import { Process } from "../world/process.ts";
import { STARTS_AT } from "../world/start.ts";
import { World } from "../world/world.ts";
import { Cluster } from "./cluster.ts";
import { Line } from "./line.ts";

test("a hub's answer does not reach a process that has crashed meanwhile", async () => {
  const world = new World(1, { faultPlan: [] });
  const { scheduler, random } = world;
  const cluster = new Cluster(world);
  cluster.start();
  await scheduler.runUntil(STARTS_AT + 1_000);
  let answered = 0;
  for (let ms = 0; ms < 12; ms++) {
    const process = new Process(scheduler, { offsetMs: 0 }, random);
    const line = new Line(world, cluster, process, random);
    let isAnswered = false;
    void line.manifests({ agent: "nobody" }).then(() => (isAnswered = true));
    await scheduler.runUntil(scheduler.now + ms);
    const wasAnswered = isAnswered;
    process.crash();
    await scheduler.runUntil(scheduler.now + 1_000);
    expect(isAnswered, `crashed after ${ms} ms`).toBe(wasAnswered);
    if (isAnswered) answered++;
  }
  expect(answered).toBeGreaterThan(0);
});
