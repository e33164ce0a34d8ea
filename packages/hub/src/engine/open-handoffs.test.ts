import { WaybillError } from "@waybill/protocol";
import { afterEach, expect, test } from "vitest";
import { memoryStore } from "../memory-store.ts";
import type { Store, StoredHandoff } from "../store.ts";
import { FailingStore, offersOf, World } from "../world-fixture.ts";
import { OpenHandoffs } from "./open-handoffs.ts";

let world: World;
afterEach(() => world.hub.close());

const FAILURE = new WaybillError(503, "The disk does not answer.");

test("a failed count of a delegator's open handoffs is repeated at its next handoff", async () => {
  const failing = new FailingStore();
  world = await World.open({ store: failing.store, limits: { openHandoffs: 1 } });
  const owner = await world.publish("owner", [{ name: "work" }]);
  failing.fail("inbox", FAILURE);
  await expect(world.handOff(owner)).rejects.toThrow(FAILURE.message);
  await world.handOff(owner);
  await expect(world.handOff(owner)).rejects.toMatchObject({ status: 301 });
});

test("a delegator is limited in its open handoffs, and may hand off again when one has ended", async () => {
  world = await World.open({ limits: { openHandoffs: 2 } });
  const owner = await world.publish("owner");
  const worker = await world.publish("worker", [{ name: "work" }]);
  await world.handOff(owner);
  await world.handOff(owner);
  await expect(world.handOff(owner)).rejects.toMatchObject({ status: 301 });
  const attached = await world.attach(worker);
  await world.result(attached, offersOf(attached)[0]!, { status: 200, output: "done" });
  await world.handOff(owner);
  await expect(world.handOff(owner)).rejects.toMatchObject({ status: 301 });
});

test("handoffs that were open before a restart count after it", async () => {
  const store = memoryStore();
  const limits = { openHandoffs: 1 };
  const before = await World.open({ store, limits });
  const owner = await before.publish("owner", [{ name: "work" }]);
  await before.handOff(owner);
  world = await World.open({ store, limits, key: before.key });
  await before.hub.close();
  await expect(world.handOff(owner)).rejects.toMatchObject({ status: 301 });
});

test("a handoff that ends during the count is not counted as open", async () => {
  world = await World.open();
  const owner = await world.publish("owner", [{ name: "work" }]);
  const { handoff_id: id } = await world.handOff(owner);
  const found = await world.store.handoff(id);
  const read = Promise.withResolvers<readonly StoredHandoff[]>();
  const store = { inbox: () => read.promise } as unknown as Store;
  const open = new OpenHandoffs(store, 1);
  const loading = open.load(["owner"]);
  open.leave(["owner"], id);
  read.resolve([found!]);
  await loading;
  expect(open.countOf(["owner"])).toBe(0);
});

test("the same handoff sent again takes no second place", async () => {
  world = await World.open({ limits: { openHandoffs: 1 } });
  const owner = await world.publish("owner", [{ name: "work" }]);
  const handoff = world.handoff("owner");
  await world.submit(handoff, owner.key);
  await world.submit(handoff, owner.key);
});
