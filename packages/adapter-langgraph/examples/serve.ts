import { createAgent } from "@waybill/agent";
import { serveGraph } from "@waybill/adapter-langgraph";
import { memoryStore, openHub } from "@waybill/hub";
import { interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import * as z from "zod";

const graph = new StateGraph({
  state: z.object({ topic: z.string(), year: z.string().optional(), facts: z.array(z.string()) }),
  input: z.object({ topic: z.string() }),
  output: z.object({ facts: z.array(z.string()) }),
})
  .addNode("ask", () => ({ year: interrupt<string, string>("Since which year?") }))
  .addNode("research", ({ topic, year }, { writer }) => {
    writer?.({ message: `reading about ${topic}` });
    return { facts: [`${topic} have been known since ${year}`] };
  })
  .addEdge(START, "ask")
  .addEdge("ask", "research")
  .compile({ checkpointer: new MemorySaver() });

// Serve: the schemas are the graph's own, and its interrupt is a question to whoever hands work to it.
const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });
const researcher = agent("researcher");
researcher.serve(...serveGraph(graph, { name: "research" }));
await researcher.start();

const editor = agent("editor");
const handoff = editor.handoff({ capability: "research", input: { topic: "waybills" } });
for await (const { id, text } of handoff.questions) {
  console.log(text); // Since which year?
  await handoff.answer(id, "1820");
}
console.log((await handoff.result).output); // { facts: [ 'waybills have been known since 1820' ] }

await Promise.all([editor.stop(), researcher.stop()]);
await hub.close();
