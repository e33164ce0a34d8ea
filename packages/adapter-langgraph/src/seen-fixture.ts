import type { BaseMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import type { PortableWork } from "@waybill/agent/adapter";
import { seenByChat } from "@waybill/conformance/model";
import { newId } from "@waybill/protocol";
import { startScriptedModel } from "@waybill/scripted-model";
import type { ScriptedModel } from "@waybill/scripted-model";

let started: Promise<ScriptedModel> | undefined;

/** What reaches a model at the other end of HTTP that is given these messages by LangChain's own client. */
export async function seenByModel(messages: BaseMessage[]): Promise<PortableWork> {
  const { url, requests } = await (started ??= startScriptedModel(() => ({ text: "Seen." })));
  const id = newId();
  const model = new ChatOpenAI({
    model: "scripted",
    apiKey: "none",
    maxRetries: 0,
    configuration: { baseURL: url, defaultHeaders: { "x-request": id } },
  });
  await model.invoke(messages);
  return seenByChat(requests.find(({ headers }) => headers["x-request"] === id)!);
}
