import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { remoteTool, serveAgent } from "@waybill/adapter-ai-sdk";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";
import { createUIMessageStreamResponse, isStepCount, streamText, toUIMessageStream } from "ai";
import { ToolLoopAgent } from "ai";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });
const scripted = await startScriptedModel([
  { calls: [{ name: "forecast", arguments: { instruction: "For Bergen." } }] },
  { text: "It rains." },
  { text: "Take an umbrella." },
]);
const provider = createOpenAICompatible({ name: "local", baseURL: scripted.url, apiKey: "none" });
const model = provider("gpt-5");
const chatId = "chat-1";
const prompt = "What do I need in Bergen?";

// #region serve
const forecaster = new ToolLoopAgent({ id: "forecaster", model, instructions: "You forecast." });
const station = agent("station");
station.serve(...serveAgent(forecaster, { name: "forecast", takes: "conversation" }));
await station.start();
// #endregion

// #region call
const web = agent("web");
const best = (await hub.find({ capability: "forecast" })).fits.at(0)!;
const tools = { forecast: remoteTool(web, best.capability, { run: chatId }) };
const { stream } = streamText({ model, prompt, tools, stopWhen: isStepCount(5) });
const response = createUIMessageStreamResponse({ stream: toUIMessageStream({ stream }) });
// #endregion

console.log((await response.text()).includes("It rains."));
await Promise.all([station.stop(), web.stop()]);
await Promise.all([hub.close(), scripted.close()]);
