import { createHandoff, generateKey, newId, signEnvelope, signManifest } from "@waybill/protocol";
import { signHello } from "@waybill/protocol/wire";
import type { Delivery } from "@waybill/protocol/wire";
import { afterEach, expect, test } from "vitest";
import { commitEach, commitOne } from "../commit-each.ts";
import { memoryStore } from "../memory-store.ts";
import { openHub } from "../open-hub.ts";
import type { HubServer } from "../open-hub.ts";
import type { Commit, Store } from "../store.ts";
import type { HubLimits } from "./options.ts";

const owner = generateKey();
const worker = generateKey();
let hub: HubServer | undefined;
let failures = 0;

afterEach(() => hub?.close());

/** A memory store that fails as many commits of handoffs as the test asks for. */
function failingStore(): Store {
  return new Proxy(memoryStore(), {
    get(target, name) {
      if (name === "commit") {
        return (group: readonly Commit[]) =>
          commitEach(group, async (commit) => {
            if (commit.handoff !== null && failures-- > 0) throw new Error("The disk is full.");
            return commitOne(target, commit);
          });
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

async function open(limits: Partial<HubLimits> = {}): Promise<HubServer> {
  failures = 0;
  hub = await openHub({ store: failingStore(), key: generateKey(), limits });
  await hub.publish(signManifest({ agent_id: "owner", capabilities: [] }, owner));
  const capabilities = [{ name: "work" }];
  await hub.publish(signManifest({ agent_id: "worker", capabilities }, worker));
  return hub;
}

function handOff({ domain, submit }: HubServer): Promise<string> {
  const body = { capability: "work" };
  const to = { capability: "work" };
  const handoff = createHandoff({ from: "owner", domain, to, body, timeoutMs: 60_000 });
  return submit(signEnvelope(handoff, owner));
}

test("an offer whose commit fails is not delivered, and frees the recipient's room", async () => {
  const opened = await open();
  const { id: to, domain } = opened;
  const claim = { from: "worker", to, domain, instance: "one", id: newId(), at: Date.now() };
  const offers: Delivery[] = [];
  const { promise: offered, resolve } = Promise.withResolvers<void>();
  await opened.attach(
    { agent: "worker", credit: 1, instance: "one", proof: signHello(claim, worker) },
    (delivery) => {
      offers.push(delivery);
      resolve();
    },
  );
  failures = 1;
  await expect(handOff(opened)).rejects.toThrow("The disk is full.");
  expect(offers).toEqual([]);
  await handOff(opened);
  await offered;
  expect(offers).toHaveLength(1);
});

test("a handoff whose commit fails frees its place among the open ones", async () => {
  const opened = await open({ openHandoffs: 1 });
  failures = 1;
  await expect(handOff(opened)).rejects.toThrow("The disk is full.");
  await handOff(opened);
  await expect(handOff(opened)).rejects.toMatchObject({ status: 301 });
});
