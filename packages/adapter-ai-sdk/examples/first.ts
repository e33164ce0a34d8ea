import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createAgent } from "@waybill/agent";
import { isRemoteOutput, questionTool, remoteTool, serveAgent } from "@waybill/adapter-ai-sdk";
import { memoryStore, openHub } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";
import { isStepCount, readUIMessageStream, streamText, ToolLoopAgent, toUIMessageStream } from "ai";

const hub = await openHub({ store: memoryStore() });

// Stands in for two models, so that this runs anywhere. With a real one: `model: "openai/gpt-5"`.
const model = await startScriptedModel([
  { calls: [{ name: "report", arguments: { instruction: "Does it rain in Bergen?" } }] },
  { calls: [{ name: "ask_delegator", arguments: { question: "Today?" } }] },
  { text: "It rains." },
  { text: "Take an umbrella." },
]);
const provider = createOpenAICompatible({ name: "local", baseURL: model.url, apiKey: "none" });

// Serve: an agent of the AI SDK as a capability. A question pauses its run, and nothing stays in memory.
const forecaster = createAgent({ id: "forecaster", hub });
const tools = { ask_delegator: questionTool() };
const reporter = new ToolLoopAgent({ id: "reporter", model: provider("gpt-5"), tools });
forecaster.serve(...serveAgent(reporter, { name: "report", takes: "conversation" }));
await forecaster.start();

// Call: another agent on the hub as a tool, whose progress and text are streamed.
const web = createAgent({ id: "web", hub });
const report = (await hub.find({ capability: "report" })).fits.at(0)!;
const chat = streamText({
  model: provider("gpt-5"),
  prompt: "Do I need an umbrella?",
  tools: {
    report: remoteTool(web, report.capability, {
      run: "chat-1",
      onQuestion: async ({ text }) => {
        console.log(text); // Today?
        return "Yes, today.";
      },
    }),
  },
  stopWhen: isStepCount(5),
});

// What `useChat` shows on a page: the text of the other agent while it writes, and then its result.
let said = "";
let written = "";
for await (const { parts } of readUIMessageStream({ stream: toUIMessageStream(chat) })) {
  for (const part of parts) {
    if (part.type === "text") said = part.text;
    if (part.type !== "dynamic-tool" || !isRemoteOutput(part.output)) continue;
    if (part.output.waybill === "working") written = part.output.text || written;
  }
}
console.log(written); // It rains.
console.log(said); // Take an umbrella.

await Promise.all([forecaster.stop(), web.stop()]);
await Promise.all([hub.close(), model.close()]);
