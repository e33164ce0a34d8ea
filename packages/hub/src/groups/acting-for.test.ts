import { afterEach, beforeEach, expect, test } from "vitest";
import { offersOf, World } from "../world-fixture.ts";
import type { Member } from "../world-fixture.ts";

let world: World;
let gateway: Member;

beforeEach(async () => {
  world = await World.open();
  gateway = await world.publish("gateway");
  await world.publish("worker", [{ name: "work" }]);
});
afterEach(() => world.hub.close());

const groupOf = (name: string, ...add: string[]) => world.hub.operator.changeGroup(name, { add });
const workFor = (onBehalfOf: string, capability = "work") =>
  world.handOff(gateway, { onBehalfOf, body: { capability } });

test("WB-216 an agent acts for others once an operator has made it an edge", async () => {
  const handoff = world.handoff("gateway", { onBehalfOf: "ada" });
  await expect(world.submit(handoff, gateway.key)).rejects.toMatchObject({ status: 403 });
  expect(await world.hub.handoff(handoff.handoff_id, "gateway")).toBeUndefined();
  await groupOf("edges", "gateway");
  await world.submit(handoff, gateway.key);
  const view = await world.hub.handoff(handoff.handoff_id, "gateway");
  expect(view).toMatchObject({ onBehalfOf: "ada", state: "open" });
  const own = await world.handOff(gateway);
  expect(await world.hub.handoff(own.handoff_id, "gateway")).not.toHaveProperty("onBehalfOf");
});

test("WB-217 work is taken from the principal's groups, and not from the edge, its key or its groups", async () => {
  await groupOf("edges", "gateway");
  await groupOf("staff", "gateway");
  await groupOf("customers", "gateway/ada");
  const { kid } = gateway.key;
  const closed = { agents: ["gateway"], keys: [kid], groups: ["edges", "staff"] };
  await world.publish("inner", [{ name: "inner", from: closed }]);
  await world.publish("shop", [{ name: "sell", from: { groups: ["customers"] } }]);
  await expect(workFor("ada", "inner")).rejects.toMatchObject({ status: 404 });
  await world.handOff(gateway, { body: { capability: "inner" } });
  await workFor("ada", "sell");
  await expect(workFor("ben", "sell")).rejects.toMatchObject({ status: 404 });
  const toShop = { to: "shop", onBehalfOf: "ben", body: { capability: "sell" } };
  await expect(world.handOff(gateway, toShop)).rejects.toMatchObject({ status: 403 });
});

test("WB-217 waiting work is offered by what the principal may do at that moment", async () => {
  await groupOf("edges", "gateway");
  // What the edge may do itself does not count.
  await groupOf("customers", "gateway", "gateway/ada");
  const shop = await world.publish("shop", [{ name: "sell", from: { groups: ["customers"] } }]);
  const { handoff_id: id } = await workFor("ada", "sell");
  await world.hub.operator.changeGroup("customers", { remove: ["gateway/ada"] });
  const attached = await world.attach(shop);
  expect(offersOf(attached)).toEqual([]);
  expect((await world.hub.handoff(id, "gateway"))?.state).toBe("dead_lettered");
});

test("WB-217 the quota of a group holds for its principals, over a restart, until their work ends", async () => {
  await groupOf("edges", "gateway");
  await groupOf("customers", "gateway/ada", "gateway/ben");
  await world.hub.operator.setQuota("customers", { open: 1 });
  await workFor("ada");
  await expect(workFor("ben")).rejects.toMatchObject({ status: 301 });
  await workFor("zoe");
  world = await world.restarted();
  await expect(workFor("ben")).rejects.toMatchObject({ status: 301 });
  const worker = await world.attach(await world.publish("worker2", [{ name: "work" }]), 5);
  for (const offer of offersOf(worker)) {
    await world.result(worker, offer, { status: 200, output: "done" });
  }
  await workFor("ben");
  await expect(workFor("ada")).rejects.toMatchObject({ status: 301 });
});

test("WB-217 a handoff counts once in a group that lists both edge and principal", async () => {
  await groupOf("edges", "gateway");
  await groupOf("all", "gateway", "gateway/ada");
  await world.hub.operator.setQuota("all", { open: 2 });
  await workFor("ada");
  await workFor("ada");
  await expect(workFor("ada")).rejects.toMatchObject({ status: 301 });
});

test("WB-217 new principals are no way around the quota of the edge", async () => {
  await groupOf("edges", "gateway");
  await world.hub.operator.setQuota("edges", { open: 1 });
  await workFor("ada");
  await expect(workFor("somebody-new")).rejects.toMatchObject({ status: 301 });
});

test("WB-221 the same session of two principals is two sessions", async () => {
  await groupOf("edges", "gateway");
  const worker = await world.attach(await world.publish("worker2", [{ name: "chat" }]), 5);
  const body = { capability: "chat" };
  const words: unknown[] = [];
  for (const onBehalfOf of ["ada", "ben", "ada", undefined]) {
    const before = offersOf(worker).length;
    await world.handOff(gateway, { body, onBehalfOf, session: { id: "trip" } });
    const offer = offersOf(worker)[before]!;
    words.push(offer.session);
    await world.receipt(worker, offer, { status: 101 });
    await world.result(worker, offer, { status: 200, output: "done" });
  }
  expect(words).toEqual(["begun", "begun", "continued", "begun"]);
});

test("a group takes agents and principals, and no other names", async () => {
  for (const name of ["gateway/", "/ada", "Gateway/ada", "gateway/a b"]) {
    await expect(groupOf("customers", name)).rejects.toMatchObject({ status: 400 });
  }
});
