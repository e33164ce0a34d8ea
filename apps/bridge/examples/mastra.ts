import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { remoteSubAgent, serveAgent } from "@waybill/adapter-mastra";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });
const scripted = await startScriptedModel([
  { calls: [{ name: "agent-translate", arguments: { prompt: "It rains." } }] },
  { text: "Det regnar." },
  { text: "In Nynorsk: Det regnar." },
]);
const provider = createOpenAICompatible({ name: "local", baseURL: scripted.url, apiKey: "none" });
// The provider's types are from a different version of the AI SDK than Mastra's.
const model = provider.chatModel("gpt-5") as never;

const linguist = new Agent({ id: "linguist", name: "linguist", instructions: "Translate.", model });
new Mastra({ agents: { linguist }, logger: false });

// #region serve
const translator = agent("translator");
translator.serve(...serveAgent(linguist, { name: "translate", takes: "delegation" }));
await translator.start();
// #endregion

// #region call
const newsroom = agent("newsroom");
const best = (await hub.find({ capability: "translate" })).fits.at(0)!;
const agents = { translate: remoteSubAgent(newsroom, best.capability, { run: () => "monday" }) };
const editor = new Agent({ id: "editor", name: "editor", instructions: "Edit.", model, agents });
// #endregion

new Mastra({ agents: { editor }, logger: false });
console.log((await editor.generate("Report.")).text);
await Promise.all([translator.stop(), newsroom.stop()]);
await Promise.all([hub.close(), scripted.close()]);
