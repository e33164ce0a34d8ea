import { converse, handoffTools, serveConversation } from "@waybill/adapter-conversation";
import { createAgent } from "@waybill/agent";
import { textMessage } from "@waybill/agent/adapter";
import { memoryStore, openHub } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";
import OpenAI from "openai";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });
const scripted = await startScriptedModel(({ body }) => {
  if (JSON.stringify(body.messages).includes("meteorologist")) return { text: "Rain." };
  if (body.messages.at(-1).role === "tool") return { text: "Take an umbrella." };
  return { calls: [{ name: "forecast", arguments: { message: "Bergen?" } }] };
});
const client = new OpenAI({ apiKey: "none", baseURL: scripted.url });

// #region serve
const model = { client, model: "gpt-5", instructions: "You are a meteorologist." };
const forecaster = agent("forecaster");
forecaster.serve(...serveConversation(model, { name: "forecast", takes: "conversation" }));
await forecaster.start();
// #endregion

// #region call
const editor = agent("editor");
const tools = handoffTools(editor, await hub.find({ capability: "forecast" }));
const messages = [textMessage("user", "What do I need in Bergen?")];
const reply = await converse({ client, model: "gpt-5", tools }, { run: "monday", messages });
console.log(reply.text);
// #endregion

await Promise.all([forecaster.stop(), editor.stop()]);
await Promise.all([hub.close(), scripted.close()]);
