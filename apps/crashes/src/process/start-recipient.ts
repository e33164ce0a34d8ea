import { createAgent, loadKey } from "@waybill/agent";
import type { Hub } from "@waybill/agent";
import { Caller } from "../line/caller.ts";
import { startAgent } from "./find-or-make.ts";
import type { Life } from "./life.ts";
import { loggerOf } from "./life.ts";
import { Worker } from "./worker.ts";

/** Serves an agent's work, on a hub in this process or in another. */
export async function startRecipient(life: Life, name: string, hub: Hub): Promise<void> {
  const { folder } = life;
  const key = await loadKey(folder.key(name));
  const agent = createAgent({ id: name, key, hub, log: loggerOf(life) });
  new Worker(agent, new Caller(folder.targetSocket)).serve();
  await startAgent(agent);
}
