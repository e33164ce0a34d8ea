import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { generateKey } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { onTestFinished } from "vitest";

/** A hub in memory, and agents on it. */
export interface World {
  readonly hub: HubServer;
  /** One id has one key: a second agent with an id is the first one, restarted. */
  agent(id: string): Agent;
}

/** A hub in memory and its agents for one test, all gone after it. */
export async function world(): Promise<World> {
  const hub = await openHub({ store: memoryStore(), key: generateKey(), terms: { backoffMs: 0 } });
  const agents: Agent[] = [];
  const keys = new Map<string, PrivateKey>();
  onTestFinished(async () => {
    await Promise.all(agents.map((agent) => agent.stop({ mode: "abandon" })));
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
