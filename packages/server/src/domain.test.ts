import { memoryStore, openHub } from "@waybill/hub";
import { generateKey, newId, provenKey, signManifest } from "@waybill/protocol";
import { hubIdOf } from "@waybill/protocol/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ask, openWorld, Party, Wire } from "./served-fixture.ts";
import type { World } from "./served-fixture.ts";

let here: World;
let there: World;
/** The same agent, with the same key, at both hubs. */
let owner: Party;
let worker: Party;

// Two hubs with the same id, each with a key of its own.
beforeEach(async () => {
  here = await openWorld();
  there = await openWorld();
  owner = await here.party("owner", [{ name: "work" }]);
  worker = await here.party("worker", [{ name: "work" }]);
  for (const { id, key } of [owner, worker]) {
    await new Party(id, key, there.url, there.hub).publish([{ name: "work" }]);
  }
});

afterEach(async () => {
  await here.close();
  await there.close();
});

test("hubs with one id and different keys are of different custody domains", async () => {
  expect(there.hub.id).toBe(here.hub.id);
  expect(there.hub.domain).not.toBe(here.hub.domain);
  for (const { hub, url } of [here, there]) {
    expect((await ask(`${url}/.well-known/waybill`)).json["domain"]).toBe(hub.domain);
    const wire = await Wire.open(url);
    expect((await wire.next("challenge")).domain).toBe(hub.domain);
    await wire.close();
  }
});

test("the proof of a request to one hub is invalid at another hub with the same id", async () => {
  const path = `/v1/handoffs/${newId()}`;
  const headers = { authorization: owner.proof(path, "GET") };
  const stolen = await ask(there.url + path, { headers });
  expect(stolen.json).toMatchObject({ waybill_status: 401 });
  expect(stolen.json["detail"]).toContain(here.hub.domain);
  // It is valid at the hub that it names, and was not used up elsewhere.
  expect((await ask(here.url + path, { headers })).status).toBe(404);
});

test("a hub that relays the nonce of another one gets no valid hello for it", async () => {
  const real = await Wire.open(there.url);
  const { nonce } = await real.next("challenge");
  // What its victim signs names the domain under which it knows the relaying hub.
  real.say({ type: "hello", proof: owner.hello(nonce), credit: 1 });
  expect((await real.next("closed")).problem).toMatchObject({ waybill_status: 401, at: "/domain" });
  await real.closed;
  // In the same process there is no nonce at all.
  const request = { agent: "owner", instance: owner.instance, credit: 1 };
  const proof = owner.hello(undefined);
  const attaching = there.hub.attach({ ...request, proof }, () => undefined);
  await expect(attaching).rejects.toMatchObject({ status: 401, at: "/domain" });
  const attached = await here.hub.attach({ ...request, proof }, () => undefined);
  await attached.close();
});

test("a handoff is accepted by the hub that it is meant for, and by no other one", async () => {
  const handoff = owner.handoff("worker");
  const before = await there.store.ledgerHead();
  expect((await there.hub.submit(handoff.text).catch(String)).toString()).toContain("custody");
  const refused = await new Party("owner", owner.key, there.url, there.hub).submit(handoff.text);
  expect(refused.json).toMatchObject({ waybill_status: 403, at: "/domain" });
  expect(await there.store.ledgerHead()).toEqual(before);
  expect(await there.hub.operator.handoff(handoff.envelope.handoff_id)).toBeUndefined();
  expect((await owner.submit(handoff.text)).status).toBe(200);
  // Nor once it is in custody at home.
  expect((await there.hub.submit(handoff.text).catch(String)).toString()).toContain("custody");
  expect(await there.store.ledgerHead()).toEqual(before);
});

test("a hub without an id is named by its domain, and keeps both when its key changes", async () => {
  const store = memoryStore();
  const [old, young] = [generateKey(), generateKey()];
  const first = await openHub({ store, key: old });
  const { id, domain } = first;
  expect({ id, domain }).toEqual({ id: hubIdOf(old.kid), domain: old.kid });
  const { digest: previous } = await first.operator.presence(id);
  const next = { agent_id: id, capabilities: [], sequence: 2, previous };
  await first.publish(signManifest({ ...next, keys: [provenKey(id, young)] }, old));
  await first.close();

  const second = await openHub({ store, key: young });
  expect({ id: second.id, domain: second.domain }).toEqual({ id, domain });
  await second.close();
  await expect(openHub({ store, key: generateKey() })).rejects.toMatchObject({ status: 401 });
});

test("a store keeps the id that it was opened with", async () => {
  const store = memoryStore();
  const key = generateKey();
  await (await openHub({ store, key, id: "harbour" })).close();
  const again = await openHub({ store, key });
  expect({ id: again.id, domain: again.domain }).toEqual({ id: "harbour", domain: key.kid });
  await again.close();
});
