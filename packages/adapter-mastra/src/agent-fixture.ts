import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { AgentConfig } from "@mastra/core/agent";
import type { World } from "@waybill/conformance/vitest";
import type { Capability } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import type { Script } from "@waybill/scripted-model";
import { onTestFinished } from "vitest";

/** A scripted model. */
export async function modelOf(script: Script): Promise<AgentConfig["model"]> {
  const model = await startScriptedModel(script);
  onTestFinished(() => model.close());
  const provider = createOpenAICompatible({
    name: "s",
    baseURL: model.url,
    apiKey: "none",
    includeUsage: true,
  });
  return provider.chatModel("scripted") as never;
}

/** The options that every agent of a test has. */
export const plain = { name: "editor", id: "editor", instructions: "", maxRetries: 0 };

/** A capability, as its manifest declares it. */
export async function found({ hub }: World, name: string): Promise<Capability> {
  return (await hub.find({ capability: name })).fits[0]!.capability;
}
