import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { memoryStore } from "../memory-store.ts";
import { offersOf, World } from "../world-fixture.ts";
import type { AttachedMember, Member } from "../world-fixture.ts";

const TERMS = { maxAttempts: 2, leaseMs: 9_000, offerMs: 3_000, graceMs: 2_000, backoffMs: 500 };
/** More than any backoff of these terms. */
const BACKOFF_MS = 1_000;
const TIMEOUT_MS = 60_000;

let world: World;
let owner: Member;
let worker: AttachedMember;

beforeEach(async () => {
  world = await World.open({ terms: TERMS, store: memoryStore() });
  owner = await world.publish("owner");
  const capabilities = [{ name: "work", lease_seconds: 9, max_attempts: 2 }];
  worker = await world.attach(await world.publish("worker", capabilities));
});
afterEach(() => world.hub.close());

async function attemptsOf(id: string) {
  return (await world.hub.handoff(id, "owner"))!.attempts.map(({ closed }) => closed);
}

test("a handoff ends with 504 at its deadline, not earlier", async () => {
  const { handoff_id: id } = await world.handOff(owner, { timeoutMs: TIMEOUT_MS });
  await world.receipt(worker, offersOf(worker)[0]!, { status: 101 });
  for (let passed = 0; passed < TIMEOUT_MS - 3_000; passed += 3_000) {
    worker.line.heartbeat(id, 1);
    await world.pass(3_000);
  }
  worker.line.heartbeat(id, 1);
  await world.pass(2_999);
  expect(await world.hub.handoff(id, "owner")).toMatchObject({ state: "open" });
  await world.pass(1);
  expect(await world.hub.handoff(id, "owner")).toMatchObject({
    state: "dead_lettered",
    status: 504,
  });
  const attached = await world.attach(owner);
  expect(attached.deliveries.some(({ type }) => type === "envelope")).toBe(true);
});

describe("an attempt", () => {
  test("that is not taken in time is lost, and the next one is offered", async () => {
    const { handoff_id: id } = await world.handOff(owner);
    await world.pass(TERMS.offerMs - 1);
    expect(await attemptsOf(id)).toEqual([null]);
    await world.pass(1);
    expect(await attemptsOf(id)).toEqual(["unreachable"]);
    await world.pass(BACKOFF_MS);
    expect(offersOf(worker)).toHaveLength(2);
  });

  test("that is taken and not accepted in time is lost", async () => {
    const { handoff_id: id } = await world.handOff(owner);
    await world.pass(500);
    worker.line.taken(id, 1);
    await world.pass(0);
    await world.pass(TERMS.graceMs - 1);
    expect(await attemptsOf(id)).toEqual([null]);
    await world.pass(1);
    expect(await attemptsOf(id)).not.toEqual([null]);
  });

  test("is kept by heartbeats, and lost one lease after the last of them", async () => {
    const { handoff_id: id } = await world.handOff(owner);
    await world.receipt(worker, offersOf(worker)[0]!, { status: 101 });
    for (let beat = 0; beat < 6; beat++) {
      await world.pass(TERMS.leaseMs / 3);
      worker.line.heartbeat(id, 1);
      await world.pass(0);
    }
    await world.pass(TERMS.leaseMs - 1);
    expect(await attemptsOf(id)).toEqual([null]);
    await world.pass(1);
    expect(await attemptsOf(id)).toEqual(["lease_lost"]);
  });

  test("that is kept by heartbeats stays so for every hub over the store", async () => {
    const { handoff_id: id } = await world.handOff(owner);
    await world.receipt(worker, offersOf(worker)[0]!, { status: 101 });
    for (let beat = 0; beat < 6; beat++) {
      await world.pass(TERMS.leaseMs / 3);
      worker.line.heartbeat(id, 1);
      await world.pass(0);
    }
    expect((await world.store.handoff(id))!.wakeAt).toBeGreaterThan(world.clock.now());
  });

  test("is not kept by another agent's heartbeats", async () => {
    const stranger = await world.attach(await world.publish("stranger", [{ name: "other" }]));
    const { handoff_id: id } = await world.handOff(owner);
    await world.receipt(worker, offersOf(worker)[0]!, { status: 101 });
    for (let beat = 0; beat < 3; beat++) {
      stranger.line.heartbeat(id, 1);
      await world.pass(TERMS.leaseMs / 3);
    }
    expect(await attemptsOf(id)).toEqual(["lease_lost"]);
  });

  test("that was silent while the hub was down gets one more lease, and only one", async () => {
    const { handoff_id: id } = await world.handOff(owner);
    await world.receipt(worker, offersOf(worker)[0]!, { status: 101 });
    await world.hub.close();
    world.clock.advance(2 * TERMS.leaseMs);
    world = await world.restarted({ terms: TERMS });
    await world.pass(0);
    await world.pass(TERMS.leaseMs - 1);
    expect(await attemptsOf(id)).toEqual([null]);
    await world.pass(1);
    expect(await attemptsOf(id)).toEqual(["lease_lost"]);
  });

  test("that is the last one ends the handoff as a dead letter", async () => {
    const { handoff_id: id } = await world.handOff(owner);
    for (const attempt of [0, 1]) {
      await world.receipt(worker, offersOf(worker)[attempt]!, { status: 101 });
      await world.pass(TERMS.leaseMs);
      await world.pass(BACKOFF_MS);
    }
    expect(await world.hub.handoff(id, "owner")).toMatchObject({
      state: "dead_lettered",
      status: 508,
    });
    expect(await world.hub.deadLetters.list({ limit: 10 })).toMatchObject([{ id, status: 508 }]);
  });
});
