import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";
import type { World } from "@waybill/conformance/vitest";
import type { Capability } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import type { Script } from "@waybill/scripted-model";
import { onTestFinished } from "vitest";

/** A scripted model, for one test. */
export async function modelOf(script: Script): Promise<LanguageModel> {
  const model = await startScriptedModel(script);
  onTestFinished(() => model.close());
  return createOpenAICompatible({
    name: "scripted",
    baseURL: model.url,
    apiKey: "none",
    includeUsage: true,
    supportsStructuredOutputs: true,
  }).chatModel("scripted");
}

/** The options of every agent of a test: one attempt, and no errors on the console. */
export const plain = { id: "editor", maxRetries: 0, onError: (): undefined => undefined };

/** A capability, as its manifest declares it. */
export async function found({ hub }: World, name: string): Promise<Capability> {
  return (await hub.find({ capability: name })).fits[0]!.capability;
}
