import { Agent, OpenAIProvider, Runner, setTraceProcessors } from "@openai/agents";
import { remoteHandoff, serveAgent } from "@waybill/adapter-openai-agents";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";
import OpenAI from "openai";

const hub = await openHub({ store: memoryStore() });
const agent = (id: string) => createAgent({ id, hub });
const scripted = await startScriptedModel([
  { calls: [{ name: "transfer_to_refund", arguments: {} }] },
  { text: "You get your 40 euros back." },
]);
setTraceProcessors([]);
const openAIClient = new OpenAI({ apiKey: "none", baseURL: scripted.url });
const modelProvider = new OpenAIProvider({ openAIClient });
const runner = new Runner({ modelProvider, groupId: "chat-1" });

// #region serve
const billing = new Agent({ name: "billing", model: "gpt-5" });
const cashier = agent("cashier");
cashier.serve(...serveAgent(billing, { name: "refund", takes: "conversation" }, { runner }));
await cashier.start();
// #endregion

// #region call
const desk = agent("desk");
const best = (await hub.find({ capability: "refund" })).fits.at(0)!;
const refund = remoteHandoff(desk, best.capability);
const triage = new Agent({ name: "triage", model: "gpt-5", handoffs: [refund] });
console.log((await runner.run(triage, "I want my money back.")).finalOutput);
// #endregion

await Promise.all([cashier.stop(), desk.stop()]);
await Promise.all([hub.close(), scripted.close()]);
