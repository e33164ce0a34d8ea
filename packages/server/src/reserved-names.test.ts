/// <reference types="node" />
import { digestOfJws, generateKey, signManifest } from "@waybill/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, openWorld, Party, Wire } from "./served-fixture.ts";
import type { Answer, World } from "./served-fixture.ts";

const pinned = generateKey();
let world: World;

beforeAll(async () => {
  world = await openWorld({
    hub: {
      id: "acme-main",
      operators: ["alice"],
      deadLetterAgent: "undertaker",
      trust: { firstUse: true, pins: new Map([["operator-7", { kids: [pinned.kid] }]]) },
    },
  });
});
afterAll(() => world.close());

function enrol(id: string, key = generateKey()): Promise<Answer> {
  const manifest = signManifest({ agent_id: id, capabilities: [] }, key);
  return ask(`${world.url}/v1/agents/${id}`, { method: "PUT", body: { manifest } });
}

const RESERVED = ["operator", "operator-2", "0perator", "hub", "hub-2", "acme.main", "acrne-main"];

test.each([...RESERVED, "alice", "al1ce", "undertaker", "under-taker"])(
  "a stranger can't enrol as %s",
  async (id) => {
    const answer = await enrol(id);
    expect(answer.json).toMatchObject({ waybill_status: 403 });
    expect(answer.json.detail).toContain(
      `The name ${id} is reserved for the operators of this hub`,
    );
    expect(await world.store.manifest(id)).toBeUndefined();
  },
);

test("a name that operators have put into their group is reserved from then on", async () => {
  expect((await enrol("bea")).status).toBe(200);
  await world.hub.operator.changeGroup("operators", { add: ["carol"] });
  expect((await enrol("car0l")).json).toMatchObject({ waybill_status: 403 });
  await world.hub.operator.changeGroup("operators", { remove: ["carol"] });
  expect((await enrol("car0l")).status).toBe(200);
});

test("nor over a socket", async () => {
  const wire = await Wire.open(world.url);
  await wire.next("challenge");
  const manifest = signManifest({ agent_id: "operator-2", capabilities: [] }, generateKey());
  expect(await wire.call("publish", { manifest })).toMatchObject({
    problem: { waybill_status: 403 },
  });
  expect(await world.store.manifest("operator-2")).toBeUndefined();
  await wire.close();
});

test("a name without a lookalike is available to anybody", async () => {
  for (const id of ["hubert", "smooth-operator", "acme-main-2", "malice"]) {
    expect((await enrol(id)).status, id).toBe(200);
  }
});

test("a reserved name is available to an agent with a pinned key only", async () => {
  expect((await enrol("operator-7")).json).toMatchObject({ waybill_status: 401 });
  expect((await enrol("operator-7", pinned)).status).toBe(200);
});

test("an agent that was enrolled in the hub's process keeps its name over the network", async () => {
  const operator = new Party("operator", generateKey(), world.url, world.hub);
  const first = signManifest({ agent_id: operator.id, capabilities: [] }, operator.key);
  await world.hub.publish(first);
  const follows = { sequence: 2, previous: digestOfJws(first) };
  const next = signManifest(
    { agent_id: operator.id, capabilities: [{ name: "work" }], ...follows },
    operator.key,
  );
  const path = `${world.url}/v1/agents/${operator.id}`;
  expect((await ask(path, { method: "PUT", body: { manifest: next } })).status).toBe(200);
  await (await operator.attach()).close();
});
