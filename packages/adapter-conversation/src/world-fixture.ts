import { world as worldOfAgents } from "@waybill/conformance/vitest";
import type { World as WorldOfAgents } from "@waybill/conformance/vitest";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ScriptedModel, Script } from "@waybill/scripted-model";
import OpenAI from "openai";
import { onTestFinished } from "vitest";

export interface World extends WorldOfAgents {
  /** A client with its own scripted model, which records its requests. */
  model(script: Script): Promise<{ client: OpenAI; model: ScriptedModel }>;
}

/** A hub, agents and models for one test, disposed of after it. */
export async function world(): Promise<World> {
  const models: ScriptedModel[] = [];
  // In reverse order: the agents stop before their models do.
  onTestFinished(async () => {
    await Promise.all(models.map((model) => model.close()));
  });
  return {
    ...(await worldOfAgents()),
    async model(script) {
      const model = await startScriptedModel(script);
      models.push(model);
      const client = new OpenAI({ apiKey: "none", baseURL: model.url, maxRetries: 0 });
      return { client, model };
    },
  };
}
