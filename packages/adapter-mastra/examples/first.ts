import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { createAgent } from "@waybill/agent";
import { questionTool, remoteSubAgent, remoteTool, serveAgent } from "@waybill/adapter-mastra";
import { memoryStore, openHub } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

// Stands in for a model, so that this runs anywhere. With a real one: `model: "openai/gpt-5"`.
const model = await startScriptedModel([
  { calls: [{ name: "ask_delegator", arguments: { question: "For which town?" } }] },
  { calls: [{ name: "forecast", arguments: { town: "Bergen" } }] },
  { calls: [{ name: "agent-translate", arguments: { prompt: "It rains." } }] },
  { text: "Det regnar." },
]);
const provider = createOpenAICompatible({ name: "local", baseURL: model.url, apiKey: "none" });

// Two agents on the hub.
const [forecaster, translator] = [agent("forecaster"), agent("translator")];
forecaster.serve(
  {
    name: "forecast",
    input_schema: { type: "object", properties: { town: { type: "string" } }, required: ["town"] },
  },
  ({ input }) => `It rains in ${(input as { town: string }).town}.`,
);
translator.serve({ name: "translate", takes: "delegation" }, () => "Det regnar.");
await Promise.all([forecaster.start(), translator.start()]);
const forecast = (await hub.find({ capability: "forecast" })).fits.at(0)!;
const translate = (await hub.find({ capability: "translate" })).fits.at(0)!;

// Call: one is a tool, the other a sub-agent, of an agent of Mastra.
const newsroom = agent("newsroom");
const editor = new Agent({
  id: "editor",
  name: "editor",
  instructions: "You write the weather report.",
  // The provider's types are from a different version of the AI SDK than Mastra's.
  model: provider.chatModel("gpt-5") as never,
  tools: {
    forecast: remoteTool(newsroom, forecast.capability),
    ask_delegator: questionTool(),
  },
  agents: { translate: remoteSubAgent(newsroom, translate.capability) },
});
new Mastra({ agents: { editor }, logger: false });

// Serve: the editor as a capability. A question pauses its run, and nothing stays in memory.
newsroom.serve(...serveAgent(editor, { name: "report", takes: "conversation" }));
await newsroom.start();

const owner = agent("owner");
const handle = owner.handoff({ capability: "report", brief: { instruction: "Report." } });
for await (const { id, text } of handle.questions) {
  console.log(text); // For which town?
  await handle.answer(id, "For Bergen.");
}
console.log((await handle.result).output); // Det regnar.

await Promise.all([forecaster, translator, newsroom, owner].map((each) => each.stop()));
await Promise.all([hub.close(), model.close()]);
