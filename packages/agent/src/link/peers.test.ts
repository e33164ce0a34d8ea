import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import {
  createHandoff,
  digestOf,
  generateKey,
  signEnvelope,
  signManifest,
} from "@waybill/protocol";
import type { PrivateKey, TrustPolicy } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../clock.ts";
import { Peers } from "./peers.ts";

const lost = generateKey();
const next = generateKey();

let hub: HubServer;

beforeEach(async () => {
  hub = await openHub({ store: memoryStore() });
  await hub.publish(signManifest({ agent_id: "anna", capabilities: [] }, lost));
});

afterEach(() => hub.close());

async function changeKey(): Promise<void> {
  const { manifests } = await hub.manifests({ agent: "anna", newest: true });
  await hub.operator.pin("anna", next.kid);
  const following = { sequence: 2, previous: digestOf(manifests[0]!.text) };
  await hub.publish(signManifest({ agent_id: "anna", capabilities: [], ...following }, next));
}

const peers = (trust?: TrustPolicy) => new Peers(hub, systemClock(), trust);

function said(key: PrivateKey): string {
  const work = { from: "anna", to: "ben", domain: hub.domain, timeoutMs: 60_000 };
  return signEnvelope(createHandoff({ ...work, body: { capability: "x" } }), key);
}

test("who has known another key of an agent refuses a pinned one until it is told", async () => {
  const knowing = peers();
  await knowing.verify(said(lost));
  await changeKey();
  await expect(knowing.verify(said(next))).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining("THE KEY HAS CHANGED") as string,
  });
  const told = peers({ pins: new Map([["anna", { kids: [next.kid] }]]) });
  await told.verify(said(next));
});

test("who has not known the agent believes the hub, and no policy of its own that is silent", async () => {
  await changeKey();
  await peers().verify(said(next));
  await expect(peers({ firstUse: true }).verify(said(next))).rejects.toMatchObject({ status: 401 });
});
