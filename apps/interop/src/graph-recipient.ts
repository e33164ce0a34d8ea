/// <reference types="node" />
// A LangGraph graph that researches, and behaves as its topic says. Started with a hub's address, its
// id and its key file.
import process from "node:process";
import { existsSync, writeFileSync } from "node:fs";
import { createAgent, loadKey } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { serveGraph } from "@waybill/adapter-langgraph";
import { interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { trace } from "@opentelemetry/api";
import * as z from "zod";

const [url = "", id = "", key = ""] = process.argv.slice(2);
const note = `${key}.hung`;

const graph = new StateGraph({
  state: z.object({ topic: z.string(), facts: z.string() }),
  input: z.object({ topic: z.string() }),
  output: z.object({ facts: z.string() }),
})
  .addNode("research", async ({ topic }, { writer, signal }: LangGraphRunnableConfig) => {
    // Shows where the node runs, if the process has an OpenTelemetry SDK.
    trace.getTracer("graph").startSpan("research").end();
    writer?.({ message: `reading about ${topic}` });
    const isOnce = topic.includes("hang once");
    if (isOnce ? !existsSync(note) : topic.includes("hang")) {
      writeFileSync(note, "");
      console.log("hanging");
      await new Promise((resolve) => signal!.addEventListener("abort", resolve, { once: true }));
      console.log("stopped");
    }
    const sea = topic.includes("ask") ? interrupt<string, string>("Which sea?") : topic;
    return { facts: `all about ${sea}` };
  })
  .addEdge(START, "research")
  .compile({ checkpointer: new MemorySaver() });

const agent = createAgent({ id, key: await loadKey(key), hub: await connect(url) });
agent.serve(
  ...serveGraph(graph, {
    name: "research",
    takes: "delegation",
    lease_seconds: 1,
    max_attempts: 10,
  }),
);
await agent.start();
console.log("ready");
