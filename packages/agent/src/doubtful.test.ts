import type { Commit } from "@waybill/hub/store";
import { WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import { interceptCommits, lineTo, settled, World } from "./world-fixture.ts";

/** Writes one commit to disk, and then reports that it failed. */
function loseWord(world: World, of: (commit: Commit) => boolean): { readonly wasLost: boolean } {
  const told = { wasLost: false };
  interceptCommits(world.store, async (commit, make) => {
    const outcome = await make(commit);
    if (told.wasLost || !of(commit)) return outcome;
    told.wasLost = true;
    throw new WaybillError(503, "planted: nobody knows whether it is on disk");
  });
  return told;
}

async function serveWork(world: World): Promise<void> {
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
}

test("an end that is on disk is delivered, although its commit was reported as failed", async () => {
  const world = await World.open();
  await serveWork(world);
  const told = loseWord(world, ({ handoff }) => handoff?.state === "completed");
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await world.clock.advance(1_000);
  expect(told.wasLost).toBe(true);
  expect(await handoff.result).toMatchObject({ output: "done", attempt: 1 });
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("a handoff that is on disk keeps its timers, although its commit was reported as failed", async () => {
  const world = await World.open();
  await serveWork(world);
  const told = loseWord(world, ({ handoff }) => handoff?.state === "open");
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await world.clock.advance(30_000);
  expect(told.wasLost).toBe(true);
  expect(await handoff.result).toMatchObject({ output: "done" });
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("a heartbeat does not suppress the news of another hub's commit that overtakes it", async () => {
  const world = await World.open();
  const second = await world.openServer();
  // Attached to the first hub, which gets its heartbeats, but submits its envelopes to the second.
  const worker = world.agent("worker", {
    hub: { ...world.hub, id: "hub", submit: (text) => second.submit(text) },
  });
  const finish = Promise.withResolvers<string>();
  worker.serve({ name: "work", lease_seconds: 30 }, () => finish.promise);
  await worker.start();
  const owner = world.agent("owner", { hub: lineTo(() => world.server) });
  const handoff = owner.handoff({ to: "worker", capability: "work", timeoutMs: 600_000 });
  await handoff.accepted;
  const isOvertaken = Promise.withResolvers<void>();
  let beats = 0;
  interceptCommits(world.store, async (commit, make) => {
    if (commit.handoff?.state === "open" && commit.entries.length === 0) {
      beats++;
      await isOvertaken.promise;
    }
    return make(commit);
  });
  while (beats === 0) await world.clock.advance(10_000);
  finish.resolve("done");
  await settled();
  isOvertaken.resolve();
  await settled();
  expect(await handoff.result).toMatchObject({ output: "done" });
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  await second.close();
});
