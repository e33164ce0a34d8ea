import { WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import type { HandoffHandle } from "./index.ts";
import { settled, World } from "./world-fixture.ts";

const SLOT_MS = 100;

/** A worker that takes the given time for each piece of work, in virtual time. */
async function worker(world: World, id: string, tookMs: number = SLOT_MS): Promise<Agent> {
  const agent = world.agent(id);
  agent.serve({ name: "work", lease_seconds: 10 }, () => {
    return new Promise((resolve) => {
      world.clock.setTimer(world.clock.now() + tookMs, () => resolve(id));
    });
  });
  await agent.start();
  return agent;
}

function handOff(owner: Agent): HandoffHandle {
  return owner.handoff({ capability: "work", timeoutMs: 600_000 });
}

/** Hands off that many at once, waits for them, and returns the worker of each. */
async function fanOut(world: World, owner: Agent, count: number): Promise<string[]> {
  const handles = Array.from({ length: count }, () => handOff(owner));
  await Promise.all(handles.map(({ custody }) => custody));
  let left = count;
  const done = handles.map((handle) =>
    handle.result.then((result) => {
      left--;
      return result.by;
    }),
  );
  while (left > 0) await world.clock.advance(SLOT_MS);
  return Promise.all(done);
}

function sharesOf(recipients: readonly string[]): Record<string, number> {
  const shares: Record<string, number> = {};
  for (const each of recipients) shares[each] = (shares[each] ?? 0) + 1 / recipients.length;
  return shares;
}

test("three equal workers get a third each, whether work comes in bursts or one by one", async () => {
  const world = await World.open();
  for (const id of ["a", "b", "c"]) await worker(world, id);
  const owner = world.agent("owner");
  for (const size of [1, 10, 30]) {
    const recipients: string[] = [];
    while (recipients.length < 300) recipients.push(...(await fanOut(world, owner, size)));
    const shares = sharesOf(recipients);
    for (const id of ["a", "b", "c"]) {
      expect(shares[id], `${id} in bursts of ${size}`).toBeGreaterThan(0.25);
      expect(shares[id], `${id} in bursts of ${size}`).toBeLessThan(0.45);
    }
  }
});

test("a worker that is ten times slower gets about a tenth of what another gets", async () => {
  const world = await World.open();
  await worker(world, "fast");
  await worker(world, "slow", 10 * SLOT_MS);
  const owner = world.agent("owner");
  // The first handoffs measure how long each worker takes.
  await fanOut(world, owner, 16);
  const recipients: string[] = [];
  for (let turn = 0; turn < 300; turn++) recipients.push(...(await fanOut(world, owner, 1)));
  const shares = sharesOf(recipients);
  expect(shares["slow"]).toBeGreaterThan(0.03);
  expect(shares["slow"]).toBeLessThan(0.18);
});

test("a worker that is killed with work in progress has work again within a minute of its return", async () => {
  const world = await World.open();
  const killed = await worker(world, "a", 5_000);
  await worker(world, "b");
  const owner = world.agent("owner");
  const held = Array.from({ length: 20 }, () => handOff(owner));
  await Promise.all(held.map(({ accepted }) => accepted));
  await killed.stop({ mode: "abandon" });
  await world.clock.advance(11_000);
  for (const each of held) expect((await each.result).by).toBe("b");
  await worker(world, "a");
  const since = world.clock.now();
  const recipients: string[] = [];
  while (recipients.length < 30) recipients.push(...(await fanOut(world, owner, 1)));
  expect(world.clock.now() - since).toBeLessThan(60_000);
  expect(recipients.filter((id) => id === "a").length).toBeGreaterThan(3);
});

test("a new worker gets its share beside one with a long record", async () => {
  const world = await World.open();
  await worker(world, "old");
  const owner = world.agent("owner");
  for (let turn = 0; turn < 10; turn++) await fanOut(world, owner, 10);
  await worker(world, "new");
  const recipients: string[] = [];
  for (let turn = 0; turn < 60; turn++) recipients.push(...(await fanOut(world, owner, 1)));
  expect(sharesOf(recipients)["new"]).toBeGreaterThan(0.25);
});

test("an ejected agent that works again has work within a minute", async () => {
  const world = await World.open({ terms: { backoffMs: 10 } });
  await worker(world, "good");
  const owner = world.agent("owner");
  for (let turn = 0; turn < 10; turn++) await fanOut(world, owner, 10);
  let isMended = false;
  const bad = world.agent("bad");
  bad.serve({ name: "work", max_attempts: 9 }, () => {
    if (!isMended) throw new WaybillError(500, "Not yet.", { retryable: true });
    return "done";
  });
  await bad.start();
  for (let turn = 0; turn < 3; turn++) {
    const handoff = owner.handoff({ to: "bad", capability: "work", contract: { max_attempts: 1 } });
    await handoff.custody;
    await world.clock.advance(1_000);
    await expect(handoff.result).rejects.toMatchObject({ status: 500 });
  }
  isMended = true;
  const since = world.clock.now();
  const recipients: string[] = [];
  while (world.clock.now() - since < 60_000) {
    recipients.push(...(await fanOut(world, owner, 1)));
    await world.clock.advance(1_000);
  }
  expect(recipients).toContain("bad");
});

test("the only candidate waits for its backoff, and not for its ejection as well", async () => {
  const world = await World.open({ terms: { backoffMs: 1_000 } });
  let failures = 3;
  const agent = world.agent("worker");
  agent.serve({ name: "work", max_attempts: 9 }, () => {
    if (failures-- > 0) throw new WaybillError(500, "Not yet.", { retryable: true });
    return "done";
  });
  await agent.start();
  const handoff = handOff(world.agent("owner"));
  await handoff.custody;
  const since = world.clock.now();
  let isDone = false;
  void handoff.result.then(() => (isDone = true));
  while (!isDone) await world.clock.advance(500);
  expect(await handoff.result).toMatchObject({ output: "done", attempt: 4 });
  // 1 + 2 + 4 seconds of backoff, each with its jitter.
  expect(world.clock.now() - since).toBeLessThan(12_000);
});

test("an agent that keeps failing is not used while another worker only lacks room", async () => {
  const world = await World.open({ terms: { backoffMs: 10 } });
  const bad = world.agent("bad");
  bad.serve({ name: "work", max_attempts: 9 }, () => {
    throw new Error("Never.");
  });
  await bad.start();
  const owner = world.agent("owner");
  for (let turn = 0; turn < 3; turn++) {
    const handoff = owner.handoff({ to: "bad", capability: "work", contract: { max_attempts: 1 } });
    await handoff.custody;
    await world.clock.advance(1_000);
    await expect(handoff.result).rejects.toMatchObject({ status: 500 });
  }
  await settled();
  const good = world.agent("good", { credit: 1 });
  good.serve("work", () => {
    return new Promise((resolve) => {
      world.clock.setTimer(world.clock.now() + SLOT_MS, () => resolve("done"));
    });
  });
  await good.start();
  expect(await fanOut(world, owner, 10)).toEqual(Array.from({ length: 10 }, () => "good"));
});
