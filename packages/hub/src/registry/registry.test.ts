import { generateKey, signManifest } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { expect, test } from "vitest";
import { memoryStore } from "../memory-store.ts";
import { openHub } from "../open-hub.ts";

const AGENTS = 40;
const ROUNDS = 12;

function manifestOf(id: string, key: PrivateKey): string {
  return signManifest({ agent_id: id, capabilities: [{ name: "work" }] }, key);
}

test("an agent that is registered costs no reading of all that were registered before it", async () => {
  const store = memoryStore();
  const hub = await openHub({ store, key: generateKey() });
  let reads = 0;
  const manifests = store.manifests.bind(store);
  store.manifests = (agent) => {
    reads++;
    return manifests(agent);
  };
  for (let index = 0; index < AGENTS; index++) {
    await hub.publish(manifestOf(`agent-${index}`, generateKey()));
    const { fits } = await hub.find({ capability: "work" });
    expect(fits).toHaveLength(index + 1);
  }
  expect(reads).toBeLessThanOrEqual(3 * AGENTS);
  await hub.close();
});

test("what another hub has registered is seen here, while this one registers too", async () => {
  const store = memoryStore();
  const key = generateKey();
  const [here, there] = [await openHub({ store, key }), await openHub({ store, key })];
  const names: string[] = [];
  for (let index = 0; index < ROUNDS; index++) {
    names.push(`here-${index}`, `there-${index}`);
    await Promise.all([
      here.publish(manifestOf(`here-${index}`, generateKey())),
      there.publish(manifestOf(`there-${index}`, generateKey())),
    ]);
    for (const hub of [here, there]) {
      const { fits } = await hub.find({ capability: "work" });
      expect(fits.map(({ agent_id }) => agent_id).toSorted()).toEqual(names.toSorted());
    }
  }
  await here.close();
  await there.close();
});
