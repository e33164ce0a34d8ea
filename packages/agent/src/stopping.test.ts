import { expect, test } from "vitest";
import { settled, World } from "./world-fixture.ts";

const SETTLE_MS = 5_000;

test.each(["finish", "release"] as const)(
  "an agent that stops waits for its hub up to its limit, and reports what is not confirmed: %s",
  async (mode) => {
    const world = await World.open();
    const log: unknown[] = [];
    const worker = world.agent("worker", { log: (event) => void log.push(event) });
    const finish = Promise.withResolvers<string>();
    worker.serve("work", () => finish.promise);
    await worker.start();
    const handle = world.agent("owner").handoff({ capability: "work" });
    await handle.accepted;
    await world.down();
    const stopping = worker.stop({ mode });
    finish.resolve("done");
    await world.clock.advance(SETTLE_MS - 1);
    let isStopped = false;
    const unconfirmed = stopping.finally(() => (isStopped = true));
    await settled();
    expect(isStopped).toBe(false);
    await world.clock.advance(1);
    const kind = mode === "finish" ? "result" : "receipt";
    expect(await unconfirmed).toEqual([{ kind, handoffId: handle.id }]);
    const [said] = log.filter((each) => (each as { event: string }).event === "unconfirmed");
    expect(said).toMatchObject({ agent: "worker", handoffId: handle.id, error: { status: 503 } });
  },
);

test("an agent that stops loses nothing in an outage that ends in time", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", () => new Promise<string>(() => undefined));
  await worker.start();
  const owner = world.agent("owner");
  const handle = owner.handoff({ capability: "work" });
  await handle.accepted;
  await world.down();
  const cancelled = handle.cancel();
  const stopping = owner.stop();
  await world.clock.advance(1_000);
  await world.up();
  await world.clock.advance(1_000);
  expect(await stopping).toEqual([]);
  expect(await cancelled).toBe(true);
  expect(await world.kinds(handle.id)).toContain("cancel");
});

test("an agent that is stopped twice stops once, and at once if it is to abandon its work", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", () => new Promise<string>(() => undefined));
  await worker.start();
  const handle = world.agent("owner").handoff({ capability: "work" });
  await handle.accepted;
  const first = worker.stop();
  expect(worker.stop()).toBe(first);
  await worker.stop({ mode: "abandon" });
  await world.clock.advance(SETTLE_MS);
  expect(await first).toEqual([]);
  expect(await world.kinds(handle.id)).not.toContain("receipt 300");
});
