/// <reference types="node" />
// One life of a process that has all in it: a hub, both agents and the graph. It is killed, or ends by
// itself once every job has.
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { createAgent, loadKey } from "@waybill/agent";
import { openHub } from "@waybill/hub";
import { SqliteSaver } from "@waybill/langgraph-checkpoint-sqlite";
import { openSqliteStore } from "@waybill/store-sqlite";
import { unfinishedThreads, wake } from "../wake.ts";
import { jobGraph } from "./graph-fixture.ts";
import type { Phase } from "./graph-fixture.ts";

const [folder = "", ...topics] = process.argv.slice(2);
const tell = (phase: Phase, topic: string) => void process.send!([phase, topic]);

const store = await openSqliteStore(join(folder, "hub.db"));
const key = (id: string) => loadKey(join(folder, `${id}.json`));
const terms = { backoffMs: 0, maxAttempts: 32 };
const hub = await openHub({ store, key: await key("hub"), terms });

const researcher = createAgent({ id: "researcher", key: await key("researcher"), hub });
const capability = { name: "research", effects: "none", max_attempts: 32 } as const;
researcher.serve<string>(capability, async ({ input }) => {
  tell("working", input);
  await setTimeout(40);
  return `all about ${input}`;
});
await researcher.start();

const owner = createAgent({ id: "owner", key: await key("owner"), hub });
const saver = new SqliteSaver(join(folder, "checkpoints.db"));
const graph = jobGraph(owner, saver, tell);
for (const topic of topics) tell("opened", topic);

const unfinished = new Set<string>();
for await (const thread of unfinishedThreads(graph)) unfinished.add(thread);
await Promise.all(
  topics.map(async (topic) => {
    const config = { configurable: { thread_id: topic } };
    const { createdAt } = await graph.getState(config);
    // A job that was killed before its first checkpoint is unknown, and has sent nothing.
    if (createdAt === undefined) await graph.invoke({ topic }, config);
    else if (!unfinished.has(topic)) return;
    tell("waiting", topic);
    await wake(owner, graph, config);
  }),
);
await Promise.all([owner.stop(), researcher.stop()]);
await hub.close();
await store.close();
saver.close();
process.disconnect();
