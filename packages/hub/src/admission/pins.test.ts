import { digestOf, generateKey, signManifest } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { memoryStore } from "../memory-store.ts";
import { openHub } from "../open-hub.ts";
import type { HubServer } from "../open-hub.ts";
import type { Store } from "../store.ts";

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

/** The next manifest of anna, by a key that it lists. */
async function update(key: PrivateKey): Promise<string> {
  const newest = (await store.manifest("anna"))!;
  const { sequence, text } = newest;
  const following = { sequence: sequence + 1, previous: digestOf(text), keys: [key.jwk] };
  return signManifest({ agent_id: "anna", capabilities: [], ...following }, key);
}

async function acts(): Promise<unknown[]> {
  const entries = await store.ledger({ limit: 100 });
  return entries
    .filter(({ type }) => type === "decision")
    .map(({ content }) => JSON.parse(content) as unknown);
}

test("an agent that has lost its key goes on with the one that an operator pins, on record", async () => {
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

test("while a pin waits, whoever has the old key or another one publishes nothing", async () => {
  await hub.operator.pin("anna", next.kid);
  for (const key of [lost, thief]) {
    const refused = hub.publish(await update(key));
    await expect(refused).rejects.toMatchObject({ status: 401 });
  }
  expect((await store.manifest("anna"))!.sequence).toBe(1);
});

test("a pin is used up, so that the next key needs the key before again", async () => {
  await hub.operator.pin("anna", next.kid);
  await hub.publish(await update(next));
  await expect(hub.publish(await update(thief))).rejects.toMatchObject({ status: 401 });
  await hub.publish(await update(next));
  expect((await store.manifest("anna"))!.sequence).toBe(3);
});

test("a pin holds over a restart, and the last one counts", async () => {
  await hub.operator.pin("anna", thief.kid);
  await hub.operator.pin("anna", next.kid);
  await hub.close();
  hub = await open();
  await expect(hub.publish(await update(thief))).rejects.toMatchObject({ status: 401 });
  await hub.publish(await update(next));
});

test("a pinned key can't be one of another agent, nor of nobody", async () => {
  await hub.publish(signManifest({ agent_id: "ben", capabilities: [] }, thief));
  await hub.operator.pin("anna", thief.kid);
  await expect(hub.publish(await update(thief))).rejects.toMatchObject({ status: 409 });
  await expect(hub.operator.pin("nobody", next.kid)).rejects.toMatchObject({ status: 404 });
});

test("a pin and a rotation at the same time leave one chain", async () => {
  const rotated = await update(lost);
  const results = await Promise.allSettled([
    hub.operator.pin("anna", next.kid),
    hub.publish(rotated),
  ]);
  expect(results[0]).toMatchObject({ status: "fulfilled" });
  // Whichever came first, the pinned key follows what is there then.
  await hub.publish(await update(next));
  expect(await hub.operator.currentKids("anna")).toEqual([next.kid]);
});
