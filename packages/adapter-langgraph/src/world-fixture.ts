import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { generateKey, parseManifest } from "@waybill/protocol";
import type { Capability, CapabilityInput, PrivateKey } from "@waybill/protocol";
import { onTestFinished } from "vitest";

export interface World {
  readonly hub: HubServer;
  /** One id has one key: the second of an id is the first after a restart. */
  agent(id: string): Agent;
}

/** A hub in memory for one test, and agents on it. */
export async function world(): Promise<World> {
  const hub = await openHub({ store: memoryStore(), key: generateKey(), terms: { backoffMs: 0 } });
  const agents: Agent[] = [];
  const keys = new Map<string, PrivateKey>();
  onTestFinished(async () => {
    await Promise.all(agents.map((each) => each.stop({ mode: "abandon" })));
    await hub.close();
  });
  return {
    hub,
    agent(id) {
      const key = keys.get(id) ?? generateKey();
      keys.set(id, key);
      const agent = createAgent({ id, key, hub });
      agents.push(agent);
      return agent;
    },
  };
}

export function asPublished(capability: CapabilityInput): Capability {
  return parseManifest({ agent_id: "other", capabilities: [capability] }).capabilities[0]!;
}
