import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import {
  createHandoff,
  digestOfJws,
  generateKey,
  provenRecoveryKey,
  signEnvelope,
  signManifest,
  signRecovery,
} from "@waybill/protocol";
import type {
  Digest,
  HandoffEnvelope,
  ManifestInput,
  PrivateKey,
  TrustPolicy,
} from "@waybill/protocol";
import type { Hub, ManifestsQuery } from "@waybill/protocol/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "@waybill/protocol/wire";
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
  const following = { sequence: 2, previous: digestOfJws(manifests[0]!.text) };
  await hub.publish(signManifest({ agent_id: "anna", capabilities: [], ...following }, next));
}

const peers = (trust?: TrustPolicy) => new Peers(hub, systemClock(), trust);

function handoffFrom(from: string): HandoffEnvelope {
  const work = { from, to: "ben", domain: hub.domain, timeoutMs: 60_000 };
  return createHandoff({ ...work, body: { capability: "x" } });
}

function said(key: PrivateKey): string {
  return signEnvelope(handoffFrom("anna"), key);
}

test("an agent that knows an earlier key refuses a recovered one until it is pinned", async () => {
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

test("without an earlier key an agent trusts the hub, and a pin policy without an opinion", async () => {
  await changeKey();
  await peers().verify(said(next));
  await expect(peers({ firstUse: true }).verify(said(next))).rejects.toMatchObject({ status: 401 });
});

const offline = generateKey();
const kept = provenRecoveryKey("anna", offline);

async function newest(): Promise<{ sequence: number; previous: Digest }> {
  const { manifests } = await hub.manifests({ agent: "anna" });
  return { sequence: manifests.length + 1, previous: digestOfJws(manifests.at(-1)!.text) };
}

async function publish(keys: ManifestInput["keys"], key: PrivateKey, by?: PrivateKey) {
  const update = { agent_id: "anna", capabilities: [], keys, ...(await newest()) };
  await hub.publish(signManifest(by === undefined ? update : signRecovery(update, by), key));
}

test("an agent that knows the old key follows a recovery, and refuses the old key from then on", async () => {
  await publish([lost.jwk, kept], lost);
  const knowing = peers();
  await knowing.verify(said(lost));
  await publish([next.jwk, kept], next, offline);
  await knowing.verify(said(next));
  await expect(knowing.verify(said(lost))).rejects.toMatchObject({ status: 401 });
  await expect(hub.submit(said(lost))).rejects.toMatchObject({ status: 401 });
});

test("an agent refuses a forked or a shortened history of a peer it knows", async () => {
  await publish([lost.jwk, kept], lost);
  const other = await openHub({ store: memoryStore() });
  await other.publish(signManifest({ agent_id: "anna", capabilities: [] }, next));
  let shown: Pick<Hub, "manifests"> = hub;
  const lying = {
    domain: hub.domain,
    manifests: (query: ManifestsQuery) => shown.manifests(query),
  };
  const knowing = new Peers(lying, systemClock(), undefined);
  await knowing.verify(said(lost));
  shown = other;
  await expect(knowing.verify(said(next))).rejects.toMatchObject({
    status: 401,
    message: expect.stringContaining("a different history of anna") as string,
  });
  await other.close();
  // A manifest from before the recovery, whose key has been retired since.
  shown = hub;
  await publish([next.jwk, kept], next, offline);
  await knowing.verify(said(next));
  const third = generateKey();
  const all = (await hub.manifests({ agent: "anna" })).manifests;
  shown = { manifests: () => Promise.resolve({ manifests: all.slice(0, 1), next: undefined }) };
  await expect(knowing.verify(said(third))).rejects.toMatchObject({ status: 401 });
  await expect(knowing.verify(said(lost))).rejects.toMatchObject({ status: 401 });
});

test("a key that the hub shows among another agent's manifests is nobody's", async () => {
  await hub.publish(signManifest({ agent_id: "mallory", capabilities: [] }, next));
  const { manifests: forged } = await forgedManifestsOf("anna");
  const lying = {
    domain: hub.domain,
    manifests: (query: ManifestsQuery) =>
      query.agent === "mallory" ? Promise.resolve({ manifests: forged }) : hub.manifests(query),
  };
  const knowing = new Peers(lying, systemClock(), undefined);
  await knowing.verify(said(lost));
  const asMallory = signEnvelope(handoffFrom("mallory"), offline);
  await expect(knowing.verify(asMallory)).rejects.toMatchObject({ status: 401 });
  await expect(knowing.verify(said(offline))).rejects.toMatchObject({ status: 401 });
});

/** The manifests of another agent of this name, with a key of its own. */
async function forgedManifestsOf(agent: string) {
  const other = await openHub({ store: memoryStore() });
  await other.publish(signManifest({ agent_id: agent, capabilities: [] }, offline));
  const page = await other.manifests({ agent });
  await other.close();
  return page;
}
