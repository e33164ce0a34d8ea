import { newId, signCompact, stringifyJson, WaybillError } from "@waybill/protocol";
import type { Delivery } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import type { Work } from "./serving/work.ts";
import { interceptCommits, lineTo, settled, World } from "./world-fixture.ts";

const never = () => new Promise<never>(() => undefined);

async function holds(world: World): Promise<void> {
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
  expect(world.errors).toEqual([]);
}

/** Registers an agent that can do the work, and is not attached. */
async function known(world: World, id: string): Promise<void> {
  const agent = world.agent(id);
  agent.serve("work", () => "done");
  await agent.start();
  await agent.stop();
}

/** Holds the next commit that leaves a handoff waiting. */
function holdWaiting(world: World): { readonly isHeld: Promise<void>; letGo(): void } {
  const held = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  interceptCommits(world.store, async (commit, make) => {
    if (commit.handoff?.waitsFor != null) {
      held.resolve();
      await free.promise;
    }
    return make(commit);
  });
  return { isHeld: held.promise, letGo: free.resolve };
}

test.each([
  ["its recipient", "worker"],
  ["a capable agent", undefined],
])("a handoff that begins to wait while %s attaches is offered at once", async (_whom, to) => {
  const world = await World.open();
  await known(world, "worker");
  const { isHeld, letGo } = holdWaiting(world);
  const handoff = world.agent("owner").handoff({ to, capability: "work", timeoutMs: 60_000 });
  await isHeld;
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
  await settled();
  letGo();
  await settled();
  expect(await world.kinds(handoff.id)).toContain("offer");
  expect(await handoff.result).toMatchObject({ output: "done" });
  await holds(world);
});

test("a handoff that begins to wait while room becomes free is offered at once", async () => {
  const world = await World.open();
  const worker = world.agent("worker", { credit: 1 });
  const finish = Promise.withResolvers<string>();
  worker.serve("work", ({ input }) => (input === "first" ? finish.promise : "done"));
  await worker.start();
  const owner = world.agent("owner");
  const work = { to: "worker", capability: "work", timeoutMs: 60_000 };
  const first = owner.handoff({ ...work, input: "first" });
  await first.accepted;
  const { isHeld, letGo } = holdWaiting(world);
  const second = owner.handoff({ ...work, input: "second" });
  await isHeld;
  finish.resolve("done");
  await first.result;
  await settled();
  letGo();
  await settled();
  expect(await world.kinds(second.id)).toContain("offer");
  expect(await second.result).toMatchObject({ output: "done" });
  await holds(world);
});

async function listen(world: World, agent: string, hears: (delivery: Delivery) => void) {
  const at = new Date(world.clock.now()).toISOString();
  const instance = newId();
  const { domain } = world.hub;
  const about = { from: agent, to: "hub", domain, instance, id: newId(), at };
  const hello = { waybill: 1, kind: "hello", ...about };
  const proof = signCompact(stringifyJson(hello), world.key(agent));
  return world.hub.attach({ agent, credit: 0, instance, proof }, hears);
}

/** Long enough for a separate acceptance, so that two envelopes are on their way. */
async function workInSteps({ progress }: Work): Promise<string> {
  await progress({ fraction: 0.5 });
  return "done";
}

test("what could not be delivered to an agent when it attached is delivered later", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", workInSteps);
  await worker.start();
  const owner = world.agent("owner");
  const made = owner.handoff({ to: "worker", capability: "work", acknowledge: "manual" });
  await made.result;
  await owner.stop({ mode: "abandon" });
  const inbox = world.store.inbox.bind(world.store);
  let failures = 1;
  world.store.inbox = (agent, page) =>
    agent === "owner" && failures-- > 0
      ? Promise.reject(new WaybillError(503, "planted"))
      : inbox(agent, page);
  const heard: Delivery[] = [];
  const first = await listen(world, "owner", (delivery) => heard.push(delivery));
  await expect(first.closed).resolves.toMatchObject({ status: 503 });
  expect(heard).toEqual([]);
  await listen(world, "owner", (delivery) => heard.push(delivery));
  await settled();
  expect(heard.map(({ type }) => type)).toEqual(["envelope", "envelope"]);
  expect(world.errors).toEqual([expect.objectContaining({ message: "planted" })]);
});

test("a handoff that can't be read does not block others for its agent", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", workInSteps);
  await worker.start();
  const owner = world.agent("owner");
  const hand = () => owner.handoff({ to: "worker", capability: "work", acknowledge: "manual" });
  const damaged = hand();
  await damaged.result;
  const whole = hand();
  await whole.result;
  await owner.stop({ mode: "abandon" });
  await world.down();
  const envelope = world.store.envelope.bind(world.store);
  world.store.envelope = async (id, digest) =>
    id === damaged.id ? undefined : envelope(id, digest);
  await world.up();
  const heard: Delivery[] = [];
  const attachment = await listen(world, "owner", (delivery) => heard.push(delivery));
  await settled();
  expect(heard).toMatchObject([
    { type: "envelope", handoff_id: whole.id },
    { type: "envelope", handoff_id: whole.id },
  ]);
  expect(world.errors).toEqual([expect.objectContaining({ status: 500 })]);
  await attachment.close();
});

test("unacknowledged offers free their room for the work behind them", async () => {
  const world = await World.open();
  const many = 300;
  const worker = world.agent("worker", { credit: many });
  worker.serve({ name: "work", lease_seconds: 600 }, never);
  await worker.start();
  const owner = world.agent("owner");
  const handoffs = Array.from({ length: many }, () =>
    owner.handoff({ to: "worker", capability: "work", timeoutMs: 600_000 }),
  );
  await Promise.all(handoffs.map(({ accepted }) => accepted));
  await worker.stop({ mode: "abandon" });
  const heard = new Set<string>();
  const attachment = await listen(world, "worker", (delivery) => heard.add(delivery.handoff_id));
  await world.clock.advance(60_000);
  expect(heard.size).toBe(many);
  await attachment.close();
});

test("what another hub has committed reaches agents here although the store fails meanwhile", async () => {
  const world = await World.open();
  const second = await world.openServer();
  const worker = world.agent("worker", { hub: lineTo(() => second) });
  const finish = Promise.withResolvers<string>();
  worker.serve("work", () => finish.promise);
  await worker.start();
  const handoff = world.agent("owner").handoff({ to: "worker", capability: "work" });
  await handoff.accepted;
  const read = world.store.handoff.bind(world.store);
  let isBroken = false;
  world.store.handoff = (id) => {
    if (!isBroken) return read(id);
    isBroken = false;
    return Promise.reject(new WaybillError(503, "planted"));
  };
  interceptCommits(world.store, (commit, make) => {
    isBroken = commit.handoff?.state === "completed";
    return make(commit);
  });
  finish.resolve("done");
  await world.clock.advance(1_000);
  expect(isBroken).toBe(false);
  expect(await handoff.result).toMatchObject({ output: "done" });
  expect(world.errors).toEqual([expect.objectContaining({ message: "planted" })]);
  await second.close();
});
