import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import {
  digestOfJws,
  generateKey,
  provenKey,
  provenRecoveryKey,
  signManifest,
  signRecovery,
} from "@waybill/protocol";
import type { ManifestKey } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createAgent } from "./agent.ts";
import type { AgentOptions } from "./agent.ts";

const key = generateKey();
const offline = generateKey();
const recoveryKey = provenRecoveryKey("anna", offline);

let hub: HubServer;

beforeEach(async () => {
  hub = await openHub({ store: memoryStore() });
});

afterEach(() => hub.close());

async function run(over: Partial<AgentOptions> = {}): Promise<void> {
  const agent = createAgent({ id: "anna", hub, key, ...over });
  try {
    await agent.start();
  } finally {
    await agent.stop();
  }
}

/** The keys of the newest manifest. */
async function listed(): Promise<{ keys: ManifestKey[]; text: string; sequence: number }> {
  const { manifests } = await hub.manifests({ agent: "anna", newest: true });
  const { text } = manifests[0]!;
  const payload = Buffer.from(text.split(".")[1]!, "base64url").toString();
  const { keys, sequence } = JSON.parse(payload) as { keys: ManifestKey[]; sequence: number };
  return { keys, text, sequence };
}

test("an agent lists its recovery key, and keeps it when its application does not name it", async () => {
  await run({ recoveryKey });
  expect((await listed()).keys).toEqual([key.jwk, recoveryKey]);
  await run();
  expect((await listed()).sequence).toBe(1);
  await run({ manifest: { description: "the same agent" } });
  const next = provenKey("anna", generateKey());
  await run({ manifest: { keys: [key.jwk, next] } });
  const { keys, sequence } = await listed();
  expect(keys).toEqual([key.jwk, next, recoveryKey]);
  expect(sequence).toBe(3);
});

test("a recovered agent continues with its new key", async () => {
  await run({ recoveryKey });
  const next = generateKey();
  await expect(run({ key: next })).rejects.toThrow("waybill agents rotate anna --from-recovery");
  const { text } = await listed();
  const update = {
    agent_id: "anna",
    capabilities: [],
    keys: [next.jwk, recoveryKey],
    sequence: 2,
    previous: digestOfJws(text),
  };
  await hub.publish(signManifest(signRecovery(update, offline), next));
  await run({ key: next, recoveryKey });
  // Nothing has changed, so nothing is published.
  expect((await listed()).sequence).toBe(2);
  await expect(run()).rejects.toMatchObject({ status: 401 });
});

test("another recovery key than the listed one is refused with what to do", async () => {
  await run({ recoveryKey });
  const other = provenRecoveryKey("anna", generateKey());
  await expect(run({ recoveryKey: other })).rejects.toThrow(
    `changes its recovery key ${offline.kid}, and that key has not signed this`,
  );
});
