import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { createAgent } from "@waybill/agent";
import { serveGeneration } from "@waybill/adapter-ai-sdk";
import type { GenerationOptions } from "@waybill/adapter-ai-sdk";
import { memoryStore, openHub } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";
import { Output, streamText } from "ai";
import * as z from "zod";

const hub = await openHub({ store: memoryStore() });
const scripted = await startScriptedModel([{ text: '{"town":"Bergen","rain":true}' }]);
const provider = createOpenAICompatible({
  name: "local",
  baseURL: scripted.url,
  apiKey: "none",
  supportsStructuredOutputs: true,
});
const model = provider("gpt-5");
const agent = createAgent({ id: "station", hub });

// #region function
const report = z.object({ town: z.string(), rain: z.boolean() });
const forecast = (given: GenerationOptions) =>
  streamText({ model, output: Output.object({ schema: report }), ...given });
agent.serve(
  ...serveGeneration(forecast, { name: "forecast", output_schema: z.toJSONSchema(report) }),
);
// #endregion

await agent.start();
const owner = createAgent({ id: "owner", hub });
const handoff = owner.handoff({ capability: "forecast", input: "Bergen" });
console.log((await handoff.result).output); // { town: 'Bergen', rain: true }
await Promise.all([agent.stop(), owner.stop()]);
await Promise.all([hub.close(), scripted.close()]);
