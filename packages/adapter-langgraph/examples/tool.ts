import { createAgent as createWaybillAgent } from "@waybill/agent";
import { remoteTool } from "@waybill/adapter-langgraph";
import type { RemoteArtifact } from "@waybill/adapter-langgraph";
import { memoryStore, openHub } from "@waybill/hub";
import { AIMessage, createAgent, fakeModel, ToolMessage } from "langchain";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createWaybillAgent({ id, hub });
const forecaster = agent("forecaster");
forecaster.serve<{ town: string }>(
  {
    name: "forecast",
    description: "Says what weather it will be in a town.",
    input_schema: { type: "object", properties: { town: { type: "string" } }, required: ["town"] },
  },
  ({ input }) => (input.town === "Bergen" ? "rain" : "sun"),
);
await forecaster.start();

// A tool from a manifest: whoever is best at it, by terms and by measured reliability.
const best = (await hub.find({ capability: "forecast" })).fits.at(0);
const concierge = agent("concierge");
const graph = createAgent({
  // Any chat model; this one says what it is told to.
  model: fakeModel()
    .respondWithTools([
      { name: "forecast", args: { town: "Bergen" }, id: "call_1" },
      { name: "forecast", args: { town: "Oslo" }, id: "call_2" },
    ])
    .respond(new AIMessage("Take an umbrella to Bergen.")),
  tools: [remoteTool(concierge, best!.capability)],
});
const { messages } = await graph.invoke({
  messages: [{ role: "user", content: "What do I need in Bergen, and in Oslo?" }],
});
// The model reads results as another's data; code has them as they came.
for (const { artifact } of messages.filter((each) => ToolMessage.isInstance(each))) {
  const { by, output } = artifact as RemoteArtifact;
  console.log(`${by}: ${output as string}`);
}
// forecaster: rain
// forecaster: sun
console.log(messages.at(-1)?.text); // Take an umbrella to Bergen.

await Promise.all([concierge.stop(), forecaster.stop()]);
await hub.close();
