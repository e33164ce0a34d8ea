import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteSaver } from "@waybill/langgraph-checkpoint-sqlite";
import { Command, interrupt, START, StateGraph } from "@langchain/langgraph";
import * as z from "zod";

const checkpointer = new SqliteSaver(join(mkdtempSync(join(tmpdir(), "waybill-")), "graph.db"));
const graph = new StateGraph(z.object({ name: z.string().optional() }))
  .addNode("ask", () => ({ name: interrupt<string, string>("What is your name?") }))
  .addEdge(START, "ask")
  .compile({ checkpointer });

const thread = { configurable: { thread_id: "visitor 7" } };
await graph.invoke({}, thread);
// Here the process may end. Another one that opens the file goes on with the thread.
console.log(await graph.invoke(new Command({ resume: "Anna" }), thread)); // { name: 'Anna' }
checkpointer.close();
