/// <reference types="node" />
import { memoryStore, openHub } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { generateKey, newId, provenKey, signManifest } from "@waybill/protocol";
import type { ManifestInput, PrivateKey } from "@waybill/protocol";
import { signHello } from "@waybill/protocol/wire";
import { afterEach, expect, test } from "vitest";
import { openWorld, Party } from "./served-fixture.ts";
import type { World } from "./served-fixture.ts";
import { Inbox } from "./webhook/inbox-fixture.ts";

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

async function worldOf(store: Store = memoryStore(), key = generateKey()): Promise<World> {
  const world = await openWorld({
    hub: { store, key },
    serve: { innerInboxes: ["127.0.0.1"], limits: { webhookWaitMs: 20 } },
  });
  open.push(world);
  return world;
}

type Over = Partial<ManifestInput>;

/** The next manifest of an agent, published by itself. */
async function next(world: World, id: string, signer: PrivateKey, over: Over): Promise<string> {
  const known = await world.hub.operator.presence(id);
  const follows = { sequence: known.sequence + 1, previous: known.digest };
  const capabilities = [{ name: "work" }];
  return signManifest({ agent_id: id, capabilities, ...follows, ...over }, signer);
}

function detached(world: World, id: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = world.hub.operator.watch(({ event, agent }) => {
      if (event !== "detached" || agent !== id) return;
      stop();
      resolve();
    });
  });
}

/** Drops the key with which the agent has attached. */
async function rotate(world: World, worker: Party, over: Over = {}): Promise<PrivateKey> {
  const young = generateKey();
  const keys = [provenKey(worker.id, young)];
  await world.hub.publish(await next(world, worker.id, worker.key, { keys, ...over }));
  return young;
}

async function handOff(world: World): Promise<string> {
  const owner = await world.party(`owner-${newId()}`);
  const handoff = owner.handoff("worker");
  expect((await owner.submit(handoff.text)).status).toBe(200);
  return handoff.envelope.handoff_id;
}

test("51: a socket ends with 401 together with the key that opened it, and gets nothing more", async () => {
  const world = await worldOf();
  const worker = await world.party("worker", [{ name: "work" }]);
  const wire = await worker.attach();
  const young = await rotate(world, worker);
  expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
  const id = await handOff(world);
  await wire.closed;
  expect(await world.hub.operator.handoff(id)).toMatchObject({ attempts: [] });
  await expect(wire.delivery("offer")).rejects.toThrow("closed");
  const after = await new Party("worker", young, world.url, world.hub).attach();
  expect(await after.delivery("offer")).toMatchObject({ handoff_id: id });
  await after.close();
});

test("51: a manifest that keeps the key leaves the connection open", async () => {
  const world = await worldOf();
  const worker = await world.party("worker", [{ name: "work" }]);
  const wire = await worker.attach();
  const young = generateKey();
  const keys = [worker.key.jwk, provenKey("worker", young)];
  await world.hub.publish(await next(world, "worker", worker.key, { keys }));
  const id = await handOff(world);
  expect(await wire.delivery("offer")).toMatchObject({ handoff_id: id });
  await wire.close();
});

test("51: a socket ends when its key expires", async () => {
  const world = await worldOf();
  const key = generateKey();
  const keys = [{ ...key.jwk, not_after: new Date(Date.now() + 1_500).toISOString() }];
  await world.hub.publish(signManifest({ agent_id: "worker", capabilities: [], keys }, key));
  const wire = await new Party("worker", key, world.url, world.hub).attach();
  expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
});

test("51: a waiting poll ends with 401 together with the key that signed it; another key continues the connection", async () => {
  const world = await worldOf();
  const worker = await world.party("worker", [{ name: "work" }]);
  expect((await worker.poll({ wait_seconds: 0 })).status).toBe(200);
  const polling = worker.poll({ wait_seconds: 60 });
  await rotate(world, worker);
  expect((await polling).json).toMatchObject({ waybill_status: 401 });

  const both = await world.party("both", [{ name: "work" }]);
  const other = generateKey();
  const keys = [both.key.jwk, provenKey("both", other)];
  await world.hub.publish(await next(world, "both", both.key, { keys }));
  expect((await both.poll({ wait_seconds: 0 })).status).toBe(200);
  const later = new Party("both", other, world.url, world.hub);
  const query = { instance: both.instance, wait_seconds: 0 };
  expect((await later.poll(query)).status).toBe(200);
  await world.hub.publish(await next(world, "both", other, { keys: [other.jwk] }));
  expect(world.hub.operator.instanceOf("both")).toBe(both.instance);
});

test("51: deliveries to an inbox depend on the keys of the manifest that names it", async () => {
  const hubKey = generateKey();
  const world = await worldOf(memoryStore(), hubKey);
  const inbox = await Inbox.open("worker", hubKey);
  open.push(inbox);
  const worker = new Party("worker", generateKey(), world.url, world.hub);
  const first = { agent_id: "worker", capabilities: [{ name: "work" }], inbox: inbox.url };
  await world.hub.publish(signManifest(first, worker.key));
  const attached = () => world.hub.operator.instanceOf("worker") !== undefined;
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
  };
  await until(attached);
  const asked = inbox.posts;
  const left = detached(world, "worker");
  const young = await rotate(world, worker, { inbox: inbox.url });
  await left;
  // The new manifest names the same inbox, which is challenged again.
  await until(attached);
  expect(inbox.posts).toBeGreaterThan(asked);
  const gone = detached(world, "worker");
  await world.hub.publish(await next(world, "worker", young, { keys: [young.jwk] }));
  await gone;
});

test("51: a key change at another hub of the store ends the connection here", async () => {
  const [store, key] = [memoryStore(), generateKey()];
  const [here, there] = [await worldOf(store, key), await worldOf(store, key)];
  const worker = await here.party("worker", [{ name: "work" }]);
  const wire = await worker.attach();
  await rotate(there, worker);
  expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
});

test("51: an attachment in the hub's own process ends too", async () => {
  const hub = await openHub({ store: memoryStore(), key: generateKey() });
  const key = generateKey();
  const young = generateKey();
  const manifest = signManifest({ agent_id: "worker", capabilities: [] }, key);
  await hub.publish(manifest);
  const claim = { from: "worker", to: hub.id, domain: hub.domain, instance: "one" };
  const proof = signHello({ ...claim, id: newId(), at: Date.now(), nonce: undefined }, key);
  const request = { agent: "worker", instance: "one", credit: 1, proof };
  const attachment = await hub.attach(request, () => undefined);
  const { digest } = await hub.operator.presence("worker");
  const keys = [provenKey("worker", young)];
  const update = { agent_id: "worker", capabilities: [], sequence: 2, previous: digest, keys };
  await hub.publish(signManifest(update, key));
  expect(await attachment.closed).toMatchObject({ status: 401 });
  await hub.close();
});
