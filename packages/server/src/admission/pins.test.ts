import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer, Store } from "@waybill/hub";
import {
  digestOfJws,
  generateKey,
  newId,
  provenRecoveryKey,
  signManifest,
} from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { signHello } from "@waybill/protocol/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorld, Party } from "../served-fixture.ts";

const lost = generateKey();
const next = generateKey();
const thief = generateKey();
const hubKey = generateKey();

let store: Store;
let hub: HubServer;

const open = () => openHub({ store, key: hubKey });

beforeEach(async () => {
  store = memoryStore();
  hub = await open();
  await hub.publish(signManifest({ agent_id: "anna", capabilities: [] }, lost));
});

afterEach(() => hub.close());

/** The next manifest of anna, signed by a key that it lists. */
async function update(key: PrivateKey): Promise<string> {
  const newest = (await store.manifest("anna"))!;
  const { sequence, text } = newest;
  const following = { sequence: sequence + 1, previous: digestOfJws(text), keys: [key.jwk] };
  return signManifest({ agent_id: "anna", capabilities: [], ...following }, key);
}

async function acts(): Promise<unknown[]> {
  const entries = await store.ledger({ limit: 100 });
  return entries
    .filter(({ type }) => type === "decision")
    .map(({ content }) => JSON.parse(content) as unknown);
}

test("an agent that has lost its key continues with the one that an operator pins, on record", async () => {
  await expect(hub.publish(await update(next))).rejects.toThrow(
    `waybill agents pin anna ${next.kid}`,
  );
  await hub.operator.pin("anna", next.kid);
  await hub.publish(await update(next));
  expect((await hub.operator.presence("anna")).sequence).toBe(2);
  expect(await hub.operator.currentKids("anna")).toEqual([next.kid]);
  await expect(hub.publish(await update(lost))).rejects.toMatchObject({ status: 401 });
  expect(await acts()).toEqual([
    { type: "pinned", agent: "anna", kid: next.kid },
    { type: "repinned", agent: "anna", kid: next.kid },
  ]);
});

test("a pin ends the old keys at once, also on open connections", async () => {
  const world = await openWorld();
  try {
    const before = await world.party("anna", [{ name: "work" }]);
    const wire = await before.attach();
    await world.hub.operator.pin("anna", next.kid);
    expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
    const refused = await before.submit(before.handoff("anna").text);
    expect(refused.json).toMatchObject({ waybill_status: 401 });
    expect((await before.ask("/v1/dead-letters")).status).toBe(401);
    await expect(before.attach()).rejects.toThrow("the socket was closed");
    expect(await world.hub.operator.currentKids("anna")).toEqual([]);
    const endedAt = async () => {
      const stored = await world.store.key(before.key.kid);
      return (JSON.parse(stored!.record) as { window: [unknown, number] }).window[1];
    };
    const ended = await endedAt();
    const { text } = (await world.store.manifest("anna"))!;
    const follows = { sequence: 2, previous: digestOfJws(text) };
    await world.hub.publish(signManifest({ agent_id: "anna", capabilities: [], ...follows }, next));
    expect(await world.hub.operator.currentKids("anna")).toEqual([next.kid]);
    expect(await endedAt()).toBe(ended);
  } finally {
    await world.close();
  }
});

test("requests by a revoked or an unpinned new key are refused with the command that pins another", async () => {
  const world = await openWorld();
  try {
    const anna = await world.party("anna", [{ name: "work" }]);
    const fresh = new Party("anna", thief, world.url, world.hub);
    const unlisted = await fresh.submit(fresh.handoff("anna").text);
    expect(unlisted.json.detail).toContain(`waybill agents pin <agent> ${thief.kid}`);
    expect((await fresh.ask("/v1/dead-letters")).json.detail).toContain("waybill agents pin anna");
    const hello = ({ id: agent, key }: Party) => {
      const { id: to, domain } = world.hub;
      const claim = { from: agent, to, domain, instance: "one", id: newId(), at: Date.now() };
      const proof = signHello({ ...claim, nonce: undefined }, key);
      return world.hub.attach({ agent, instance: "one", credit: 1, proof }, () => undefined);
    };
    await expect(hello(fresh)).rejects.toThrow(`waybill agents pin anna ${thief.kid}`);
    await world.hub.operator.pin("anna", next.kid);
    const command = "waybill agents pin anna <thumbprint>";
    expect((await anna.submit(anna.handoff("anna").text)).json.detail).toContain(command);
    expect((await anna.ask("/v1/dead-letters")).json.detail).toContain(command);
    await expect(hello(anna)).rejects.toThrow(command);
    await expect(world.hub.operator.pin("anna", anna.key.kid)).rejects.toMatchObject({
      status: 409,
    });
  } finally {
    await world.close();
  }
});

test("pinning an agent's current key lets it change a lost recovery key", async () => {
  const keys = [next.jwk, provenRecoveryKey("cleo", thief)];
  const first = signManifest({ agent_id: "cleo", capabilities: [], keys }, next);
  await hub.publish(first);
  const follows = { sequence: 2, previous: digestOfJws(first) };
  const without = signManifest({ agent_id: "cleo", capabilities: [], ...follows }, next);
  await expect(hub.publish(without)).rejects.toThrow("lacks its recovery key");
  await hub.operator.pin("cleo", next.kid);
  expect(await hub.operator.currentKids("cleo")).toEqual([next.kid]);
  await hub.publish(without);
});

test("while a pin waits, holders of the old key or of another one can't publish", async () => {
  await hub.operator.pin("anna", next.kid);
  for (const key of [lost, thief]) {
    const refused = hub.publish(await update(key));
    await expect(refused).rejects.toMatchObject({ status: 401 });
  }
  expect((await store.manifest("anna"))!.sequence).toBe(1);
});

test("a pin is used up, so that the next key change needs the previous key again", async () => {
  await hub.operator.pin("anna", next.kid);
  await hub.publish(await update(next));
  await expect(hub.publish(await update(thief))).rejects.toMatchObject({ status: 401 });
  await hub.publish(await update(next));
  expect((await store.manifest("anna"))!.sequence).toBe(3);
});

test("a pin survives a restart, and the last one counts", async () => {
  await hub.operator.pin("anna", thief.kid);
  await hub.operator.pin("anna", next.kid);
  await hub.close();
  hub = await open();
  await expect(hub.publish(await update(thief))).rejects.toMatchObject({ status: 401 });
  await hub.publish(await update(next));
});

test("a pinned key can't be another agent's, nor an unknown agent's", async () => {
  await hub.publish(signManifest({ agent_id: "ben", capabilities: [] }, thief));
  await hub.operator.pin("anna", thief.kid);
  await expect(hub.publish(await update(thief))).rejects.toMatchObject({ status: 409 });
  await expect(hub.operator.pin("nobody", next.kid)).rejects.toMatchObject({ status: 404 });
});

test("a concurrent pin and rotation leave one chain", async () => {
  const rotated = await update(lost);
  const results = await Promise.allSettled([
    hub.operator.pin("anna", next.kid),
    hub.publish(rotated),
  ]);
  expect(results[0]).toMatchObject({ status: "fulfilled" });
  // Whichever came first, the pinned key follows the resulting manifest.
  await hub.publish(await update(next));
  expect(await hub.operator.currentKids("anna")).toEqual([next.kid]);
});
