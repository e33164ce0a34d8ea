import { createHandoff, generateKey, newId, signEnvelope, signManifest } from "@waybill/protocol";
import type { CapabilityInput, PrivateKey } from "@waybill/protocol";
import { signHello } from "@waybill/protocol/wire";
import { afterEach, expect, test } from "vitest";
import { memoryStore } from "../memory-store.ts";
import { openHub } from "../open-hub.ts";
import type { HubServer } from "../open-hub.ts";
import { countedStore } from "../registry/counted-store-fixture.ts";
import type { CountedStore } from "../registry/counted-store-fixture.ts";

let hub: HubServer;
let counted: CountedStore;
afterEach(() => hub.close());

async function open(): Promise<void> {
  counted = countedStore(memoryStore());
  hub = await openHub({ store: counted.store, key: generateKey() });
}

async function publish(agent: string, capability: CapabilityInput): Promise<PrivateKey> {
  const key = generateKey();
  await hub.publish(signManifest({ agent_id: agent, capabilities: [capability] }, key));
  return key;
}

/** Attaches an agent; returns its first offer. */
async function attach(
  agent: string,
  key: PrivateKey,
): Promise<{ readonly offer: Promise<string> }> {
  const { id: to, domain } = hub;
  const claim = { from: agent, to, domain, instance: "one", id: newId(), at: Date.now() };
  const proof = signHello(claim, key);
  let heard: (agent: string) => void;
  const offer = new Promise<string>((resolve) => (heard = resolve));
  await hub.attach({ agent, credit: 1, instance: "one", proof }, ({ type }) => {
    if (type === "offer") heard(agent);
  });
  return { offer };
}

async function submit(key: PrivateKey, input?: string): Promise<void> {
  const envelope = createHandoff({
    from: "owner",
    domain: hub.domain,
    to: { capability: "work" },
    body: { capability: "work", ...(input === undefined ? {} : { input }) },
    timeoutMs: 60_000,
  });
  await hub.submit(signEnvelope(envelope, key));
}

test("45: work finds the only connected agent among hundreds, and only that one is considered", async () => {
  await open();
  for (let index = 0; index < 300; index++) await publish(`away-${index}`, { name: "work" });
  const worker = await attach("worker", await publish("worker", { name: "work" }));
  const owner = await publish("owner", { name: "none" });
  counted.reset();
  await submit(owner);
  expect(await worker.offer).toBe("worker");
  expect(counted.calls("capability")).toBe(1);
  // The first of the agents that offer it, for the terms, and the worker's offer.
  expect(counted.calls("offers")).toBeLessThanOrEqual(2);
  expect(counted.calls("manifests") + counted.calls("agents")).toBe(0);
});

test("45: work finds the matching agent among hundreds of connected ones, a bounded number at a time", async () => {
  await open();
  const hostile = { name: "work", input_schema: { type: "string", const: "never" } };
  for (let index = 0; index < 200; index++) {
    await attach(`hostile-${index}`, await publish(`hostile-${index}`, hostile));
  }
  const worker = await attach("worker", await publish("worker", { name: "work" }));
  const owner = await publish("owner", { name: "none" });
  await submit(owner, "work");
  expect(await worker.offer).toBe("worker");
  counted.reset();
  // It has no room for another one, and the others are considered in at most four steps.
  await submit(owner, "more work");
  expect(counted.calls("capability")).toBeLessThanOrEqual(256);
});

test("an agent is found by what it offers now, not by what it offered when it attached", async () => {
  await open();
  const key = await publish("worker", { name: "other" });
  const worker = await attach("worker", key);
  const owner = await publish("owner", { name: "work" });
  await submit(owner);
  const { digest } = await hub.operator.presence("worker");
  const next = { agent_id: "worker", sequence: 2, previous: digest };
  await hub.publish(signManifest({ ...next, capabilities: [{ name: "work" }] }, key));
  expect(await worker.offer).toBe("worker");
});
