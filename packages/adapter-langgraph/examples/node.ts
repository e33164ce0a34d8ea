import { createAgent } from "@waybill/agent";
import { remoteNode } from "@waybill/adapter-langgraph";
import { memoryStore, openHub } from "@waybill/hub";
import { START, StateGraph } from "@langchain/langgraph";
import * as z from "zod";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });
const translator = agent("translator");
translator.serve<string>({ name: "translate", tags: ["en"] }, async ({ input, progress }) => {
  await progress({ message: "looking it up" });
  return input === "regn" ? "rain" : input;
});
await translator.start();

// Call: a node that is whoever can translate into this language, found when the node runs.
const editor = agent("editor");
const State = z.object({ language: z.string(), text: z.string() });
const graph = new StateGraph(State)
  .addNode(
    "translate",
    remoteNode(editor, {
      handoff: ({ language, text }: z.infer<typeof State>) => ({
        capability: "translate",
        tags: [language],
        input: text,
        timeoutMs: 60_000,
      }),
      update: ({ output, by }) => ({ text: `${output as string}, says the ${by}` }),
    }),
  )
  .addEdge(START, "translate")
  .compile();

const input = { language: "en", text: "regn" };
for await (const [mode, chunk] of await graph.stream(input, { streamMode: ["custom", "values"] })) {
  console.log(mode, chunk);
}
// values { language: 'en', text: 'regn' }
// custom { message: 'looking it up' }
// values { language: 'en', text: 'rain, says the translator' }

await Promise.all([editor.stop(), translator.stop()]);
await hub.close();
