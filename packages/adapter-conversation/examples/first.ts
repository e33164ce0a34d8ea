import { createAgent } from "@waybill/agent";
import { converse, handoffTools, serveConversation } from "@waybill/adapter-conversation";
import { textMessage } from "@waybill/agent/adapter";
import { memoryStore, openHub } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";
import OpenAI from "openai";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

// Stands in for a model, so that this runs anywhere. With a real one: `new OpenAI()`.
const model = await startScriptedModel(({ body }) => {
  if (JSON.stringify(body.messages[0]).includes("meteorologist")) return { text: '{"rain": true}' };
  if (body.messages.at(-1).role === "tool") return { text: "Take an umbrella." };
  return { calls: [{ name: "forecast", arguments: { town: "Bergen" } }] };
});
const client = new OpenAI({ apiKey: "none", baseURL: model.url });

// Serve: a model with instructions and tools, as a capability that others hand work to.
const forecaster = agent("forecaster");
forecaster.serve(
  ...serveConversation(
    { client, model: "gpt-5", instructions: "You are a meteorologist." },
    {
      name: "forecast",
      description: "Says whether it will rain.",
      input_schema: {
        type: "object",
        properties: { town: { type: "string" } },
        required: ["town"],
      },
      output_schema: { type: "object", properties: { rain: { type: "boolean" } } },
    },
  ),
);
await forecaster.start();

// Call: another model, which hands off to whoever can do what it needs.
const editor = agent("editor");
const tools = handoffTools(editor, await hub.find({ capability: "forecast" }));
const reply = await converse(
  { client, model: "gpt-5", tools },
  { run: "monday", messages: [textMessage("user", "What do I need in Bergen?")] },
);
console.log(reply.text); // Take an umbrella.
console.log(reply.messages.map(({ role }) => role)); // [ 'assistant', 'tool', 'assistant' ]
console.log(reply.failures); // []

await Promise.all([forecaster.stop(), editor.stop()]);
await Promise.all([hub.close(), model.close()]);
