// #region begin
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });
// #endregion
import { START, StateGraph } from "@langchain/langgraph";
import { remoteNode, serveGraph } from "@waybill/adapter-langgraph";
import * as z from "zod";

const State = z.object({ topic: z.string(), facts: z.string().optional() });
type State = z.infer<typeof State>;
const library = new StateGraph(State)
  .addNode("look up", ({ topic }) => ({ facts: `${topic} have been known since 1820` }))
  .addEdge(START, "look up")
  .compile();

// #region serve
const researcher = agent("researcher");
researcher.serve(...serveGraph(library, { name: "research" }));
await researcher.start();
// #endregion

// #region call
const editor = agent("editor");
const research = remoteNode(editor, {
  handoff: ({ topic }: State) => ({ capability: "research", input: { topic } }),
  update: ({ output }) => output as Partial<State>,
});
const graph = new StateGraph(State).addNode("research", research).addEdge(START, "research");
// #endregion

console.log(await graph.compile().invoke({ topic: "waybills" }));
await Promise.all([researcher.stop(), editor.stop()]);
await hub.close();
