import { WaybillError } from "@waybill/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { FailingStore, offersOf, settled, World } from "../world-fixture.ts";
import type { AttachedMember } from "../world-fixture.ts";

let world: World;
afterEach(() => world.hub.close());

const CREDIT_AT_MOST = 10_000;
const WORK = [{ name: "work" }];

function envelopesOf({ deliveries }: AttachedMember): string[] {
  return deliveries.filter(({ type }) => type === "envelope").map(({ handoff_id }) => handoff_id);
}

describe("what an agent has missed", () => {
  test("is not skipped where the store fails: the agent is let go, and has all of it when it attaches again", async () => {
    const failing = new FailingStore();
    world = await World.open({ store: failing.store });
    const owner = await world.publish("owner");
    const worker = await world.attach(await world.publish("worker", WORK), 2);
    const handoffs = [await world.handOff(owner), await world.handOff(owner)];
    for (const offer of offersOf(worker)) {
      await world.result(worker, offer, { status: 200, output: "done" });
    }
    const other = await World.open({ store: failing.store, key: world.key });
    await world.hub.close();
    world = other;
    failing.fail("handoff", new WaybillError(503, "The disk does not answer."));
    const first = await world.attach(owner);
    await expect(first.closed).resolves.toMatchObject({ status: 503 });
    const second = await world.attach(owner);
    const ids = handoffs.map(({ handoff_id: id }) => id);
    expect(envelopesOf(second).toSorted()).toEqual(ids.toSorted());
  });

  test("comes without what is damaged, which keeps nothing else up", async () => {
    const failing = new FailingStore();
    world = await World.open({ store: failing.store });
    const owner = await world.publish("owner");
    const worker = await world.attach(await world.publish("worker", WORK), 2);
    await world.handOff(owner);
    await world.handOff(owner);
    for (const offer of offersOf(worker)) {
      await world.result(worker, offer, { status: 200, output: "done" });
    }
    const other = await World.open({ store: failing.store, key: world.key });
    await world.hub.close();
    world = other;
    failing.fail("handoff", new WaybillError(500, "The record is damaged."));
    const attached = await world.attach(owner);
    expect(envelopesOf(attached)).toHaveLength(1);
  });

  test("is the attempt that it holds, and its room is taken by that", async () => {
    world = await World.open();
    const owner = await world.publish("owner");
    const member = await world.publish("worker", WORK);
    const first = await world.attach(member);
    await world.handOff(owner);
    await world.receipt(first, offersOf(first)[0]!, { status: 101 });
    const second = await world.attach(member, 1, "two");
    expect(offersOf(second)).toMatchObject([{ attempt: 1, is_accepted: true }]);
    await world.handOff(owner);
    expect(offersOf(second)).toHaveLength(1);
  });
});

describe("an agent that attaches again", () => {
  test("stays attached when the end of its old line is noticed", async () => {
    world = await World.open();
    const owner = await world.publish("owner");
    const member = await world.publish("worker", WORK);
    const first = await world.attach(member);
    const second = await world.attach(member);
    await first.line.close();
    await expect(first.closed).resolves.toMatchObject({ status: 503 });
    await world.handOff(owner);
    expect(offersOf(second)).toHaveLength(1);
  });

  test("from another process is told apart from one whose line was cut", async () => {
    world = await World.open();
    const member = await world.publish("worker", WORK);
    const first = await world.attach(member);
    const second = await world.attach(member, 1, "two");
    await expect(first.closed).resolves.toMatchObject({ status: 409 });
    await world.attach(member, 1, "two");
    await expect(second.closed).resolves.toMatchObject({ status: 503 });
  });

  test("is not pushed out by a hello that it said before", async () => {
    world = await World.open();
    const member = await world.publish("worker", WORK);
    const late = world.attachRequest(member);
    world.clock.advance(1_000);
    const attached = await world.attach(member);
    await expect(world.hub.attach(late, () => undefined)).rejects.toMatchObject({ status: 503 });
    const owner = await world.publish("owner");
    await world.handOff(owner);
    expect(offersOf(attached)).toHaveLength(1);
  });
});

test("an agent has the room that it names, up to a bound", async () => {
  world = await World.open();
  const member = await world.publish("worker", WORK);
  for (const credit of [-1, 0.5, CREDIT_AT_MOST + 1, Infinity]) {
    await expect(world.attach(member, credit), `${credit}`).rejects.toMatchObject({ status: 400 });
  }
  await world.attach(member, CREDIT_AT_MOST);
  const owner = await world.publish("owner");
  const attached = await world.attach(member, 2);
  for (let count = 0; count < 4; count++) await world.handOff(owner);
  expect(offersOf(attached)).toHaveLength(2);
  attached.line.setCredit(3);
  await settled();
  expect(offersOf(attached)).toHaveLength(3);
});
