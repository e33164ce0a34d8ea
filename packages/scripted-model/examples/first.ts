import { startScriptedModel } from "@waybill/scripted-model";
import OpenAI from "openai";

const model = await startScriptedModel([
  { text: "I look.", calls: [{ name: "weather", arguments: { town: "Bergen" } }] },
  { status: 429, headers: { "retry-after": "0" } },
  { text: "It rains." },
]);
const client = new OpenAI({ apiKey: "none", baseURL: model.url });

const ask = async (content: string) => {
  const messages = [{ role: "user" as const, content }];
  const stream = client.chat.completions.stream({ model: "any", messages });
  return (await stream.finalChatCompletion()).choices.at(0)!.message;
};
const { tool_calls: calls } = await ask("Does it rain?");
console.log(calls!.map((call) => call.type === "function" && call.function.arguments));
// [ '{"town":"Bergen"}' ]
console.log((await ask("And now?")).content); // It rains.
console.log(model.requests.length); // 3: the client has tried again after the 429

await model.close();
