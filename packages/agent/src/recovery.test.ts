import { newId, WaybillError } from "@waybill/protocol";
import type { Delivery } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { interceptCommits, listen, settled, World } from "./world-fixture.ts";

const never = () => new Promise<never>(() => undefined);

test("what is due while the hub is down is done after its restart", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", never);
  await worker.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff({ to: "worker", capability: "work", timeoutMs: 60_000 });
  await handoff.accepted;
  await world.down();
  await world.clock.advance(120_000);
  await world.up();
  await world.clock.advance(10_000);
  await expect(handoff.result).rejects.toMatchObject({ status: 504 });
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("a crash between an end and its consequences leaves no child open", async () => {
  const world = new World();
  const children = world.store.children.bind(world.store);
  let isBroken = true;
  world.store.children = (...args) =>
    isBroken ? Promise.reject(new WaybillError(503, "planted")) : children(...args);
  await world.up();
  const worker = world.agent("worker");
  worker.serve("part", never);
  worker.serve("whole", async (work) => {
    isBroken = false;
    const part = work.handoff({ to: "worker", capability: "part" });
    await part.accepted;
    isBroken = true;
    return never();
  });
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "whole" });
  await handoff.accepted;
  await settled();
  await handoff.cancel();
  await settled();
  expect(world.errors).toContainEqual(expect.objectContaining({ message: "planted" }));
  const [child] = await children(handoff.id, { limit: 10 });
  expect(child).toMatchObject({ state: "open" });
  await world.down();
  isBroken = false;
  await world.up();
  await settled();
  expect(await world.store.handoff(child!.id)).toMatchObject({ state: "cancelled" });
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("a handoff is not found while it is being submitted, and is found once it has arrived", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
  let arrive = (): void => undefined;
  const held = new Promise<void>((resolve) => (arrive = resolve));
  const submit = (text: string) => held.then(() => world.hub.submit(text));
  const first = world.agent("owner", { hub: { ...world.hub, submit } });
  const { id } = first.handoff({ to: "worker", capability: "work" });
  await settled();
  await first.stop({ mode: "abandon" });
  const second = world.agent("owner");
  await expect(second.attach(id)).rejects.toMatchObject({ status: 404 });
  arrive();
  await settled();
  const found = await second.attach(id);
  expect(await found.result).toMatchObject({ output: "done" });
  await settled();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("an unacknowledged delivery is delivered again", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", async ({ progress }) => {
    await progress({ fraction: 0.5 });
    return "done";
  });
  await worker.start();
  const owner = world.agent("owner");
  const handoff = owner.handoff({ to: "worker", capability: "work", acknowledge: "manual" });
  await handoff.result;
  await owner.stop({ mode: "abandon" });
  const heard: Delivery[] = [];
  const attachment = await listen(world, "owner", (delivery) => heard.push(delivery));
  await settled();
  const first = heard.splice(0);
  expect(first.map(({ type }) => type)).toEqual(["envelope", "envelope"]);
  await world.clock.advance(10_000);
  expect(heard.splice(0)).toEqual(first);
  for (const delivery of first) if (delivery.type !== "stop") attachment.seen(delivery.id);
  await world.clock.advance(60_000);
  expect(heard).toEqual([]);
  await attachment.close();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("a newer process replaces an agent's older attachment", async () => {
  const world = await World.open();
  await world.agent("owner").start();
  const first = await listen(world, "owner", () => undefined);
  const second = await listen(world, "owner", () => undefined, 0, "another");
  await expect(first.closed).resolves.toMatchObject({ status: 409 });
  await second.close();
  await expect(second.closed).resolves.toBeUndefined();
});

test("a hub opens its store with its own key only", async () => {
  const world = await World.open();
  await world.down();
  const other = new World();
  Object.assign(other, { store: world.store });
  await expect(other.up()).rejects.toMatchObject({ status: 401 });
  await world.up();
});

test("waiting work is offered even if the store fails at the first attempt to read it", async () => {
  const world = new World();
  const waiting = world.store.waiting.bind(world.store);
  let failures = 0;
  world.store.waiting = (...args) =>
    failures++ === 0 ? Promise.reject(new WaybillError(503, "planted")) : waiting(...args);
  await world.up();
  const worker = () => {
    const agent = world.agent("worker");
    agent.serve("work", () => "done");
    return agent;
  };
  const first = worker();
  await first.start();
  await settled();
  await first.stop();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.custody;
  failures = 0;
  await worker().start();
  await world.clock.advance(2_000);
  expect(failures).toBeGreaterThan(1);
  expect(await handoff.result).toMatchObject({ output: "done" });
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("a frame at the exact deadline does not end a handoff without an entry in the ledger", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", never);
  await worker.start();
  await worker.stop();
  const attachment = await listen(
    world,
    "worker",
    (delivery) => {
      if (delivery.type === "offer") attachment.taken(delivery.handoff_id, delivery.attempt);
    },
    1,
  );
  const id = newId();
  // Armed before the hub's own timers, so that the frame arrives first.
  world.clock.setTimer(world.clock.now() + 4_000, () => attachment.heartbeat(id, 1));
  const owner = world.agent("owner");
  const options = { to: "worker", capability: "work", handoffId: id, timeoutMs: 4_000 };
  const handoff = owner.handoff(options);
  await handoff.custody;
  await world.clock.advance(5_000);
  await expect(handoff.result).rejects.toMatchObject({ status: 504 });
  await settled();
  expect(await world.kinds(id)).toEqual(expect.arrayContaining(["offer", "expire", "notice 504"]));
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  expect(world.errors).toEqual([]);
});

test("a child that is submitted while its parent ends is cancelled, even if the hub crashes then", async () => {
  const world = new World();
  const partId = newId();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  let isHeld = (): void => undefined;
  const isHolding = new Promise<void>((resolve) => (isHeld = resolve));
  let isDown = false;
  interceptCommits(world.store, async (commit, make) => {
    if (isDown) throw new WaybillError(503, "planted");
    if (commit.handoff?.id !== partId || commit.handoff.version > 1) return make(commit);
    isHeld();
    await held;
    const outcome = await make(commit);
    // From here on nothing more reaches the disk: the hub has crashed.
    isDown = true;
    return outcome;
  });
  await world.up();
  const worker = world.agent("worker");
  worker.serve("part", never);
  worker.serve("whole", (work) => {
    work.handoff({ to: "worker", capability: "part", handoffId: partId });
    return never();
  });
  await worker.start();
  const whole = world.agent("owner").handoff({ to: "worker", capability: "whole" });
  await isHolding;
  await whole.cancel();
  await settled();
  release();
  await settled();
  await world.down();
  isDown = false;
  expect(await world.store.handoff(partId)).toMatchObject({ state: "open" });
  await world.up();
  await world.clock.advance(10_000);
  expect(await world.store.handoff(partId)).toMatchObject({ state: "cancelled" });
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});
