import type { BaseMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import type { PortableWork } from "@waybill/agent/adapter";
import type { PlayedUsage } from "@waybill/conformance";
import { seenByChat } from "@waybill/conformance/model";
import { newId } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ScriptedModel } from "@waybill/scripted-model";

let started: Promise<ScriptedModel> | undefined;

/** The HTTP request that a model gets for these messages through LangChain's own client. */
export async function seenByModel(messages: BaseMessage[]): Promise<PortableWork> {
  const { requests } = await asked(messages, NOTHING);
  return seenByChat(requests.at(-1)!);
}

/** The usage that a model behind HTTP reports. */
export async function reportedByModel(messages: BaseMessage[], usage: PlayedUsage): Promise<void> {
  await asked(messages, usage);
}

const NOTHING = { input_tokens: 0, output_tokens: 0 };
const usages = new Map<string, PlayedUsage>();

async function asked(messages: BaseMessage[], usage: PlayedUsage) {
  const { url, requests } = await (started ??= startScriptedModel(({ headers }) => {
    return { text: "Seen.", usage: usages.get(headers["x-request"] as string) };
  }));
  const id = newId();
  usages.set(id, usage);
  const model = new ChatOpenAI({
    model: "scripted",
    apiKey: "none",
    maxRetries: 0,
    configuration: { baseURL: url, defaultHeaders: { "x-request": id } },
  });
  await model.invoke(messages);
  return { requests: requests.filter(({ headers }) => headers["x-request"] === id) };
}
