import { Agent, OpenAIProvider, Runner, setTraceProcessors, tool } from "@openai/agents";
import { questionTool, remoteHandoff, serveAgent } from "@waybill/adapter-openai-agents";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";
import OpenAI from "openai";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });

// Stands in for a model, so that this runs anywhere. With a real one: `new Runner()`.
const model = await startScriptedModel([
  { calls: [{ name: "transfer_to_refund", arguments: { order: 7 } }] },
  { calls: [{ id: "call_1", name: "pay_back", arguments: { euros: 40 } }] },
  { text: "You get your 40 euros back." },
]);
setTraceProcessors([]);
const openAIClient = new OpenAI({ apiKey: "none", baseURL: model.url });
const runner = new Runner({
  modelProvider: new OpenAIProvider({ openAIClient }),
  groupId: "chat-1",
});

// Serve: an agent of the SDK. An approval becomes a question to the delegator, and the run waits for
// the answer on disk, not in memory.
const payBack = tool({
  name: "pay_back",
  description: "Pays money back.",
  parameters: {
    type: "object",
    properties: { euros: { type: "number" } },
    required: ["euros"],
    additionalProperties: false,
  },
  needsApproval: true,
  execute: () => "Paid back.",
});
const cashier = agent("cashier");
const billing = new Agent({ name: "billing", model: "gpt-5", tools: [payBack, questionTool()] });
cashier.serve(
  ...serveAgent(
    billing,
    {
      name: "refund",
      input_schema: {
        type: "object",
        properties: { order: { type: "integer" } },
        required: ["order"],
      },
    },
    { runner },
  ),
);
await cashier.start();

// Call: an agent that hands off to it as to any other agent of the SDK.
const desk = agent("desk");
const { capability } = (await hub.find({ capability: "refund" })).fits.at(0)!;
const refund = remoteHandoff(desk, capability, {
  async onQuestion({ text }) {
    console.log(text); // May billing use pay_back with {"euros":40}?
    return true;
  },
});
const triage = new Agent({ name: "triage", model: "gpt-5", handoffs: [refund] });
console.log((await runner.run(triage, "I want my money back.")).finalOutput);
// You get your 40 euros back.

await Promise.all([cashier.stop(), desk.stop()]);
await Promise.all([hub.close(), model.close()]);
