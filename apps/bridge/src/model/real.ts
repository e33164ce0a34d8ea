import type { ModelRequest, SaidCall, Turn } from "@waybill/scripted-model";
import OpenAI from "openai";

export interface RealModel {
  readonly name: string;
  turn(request: ModelRequest): Turn;
}

const DEFAULT_MODEL = "gpt-5-mini";

/** The model named by `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL`, if they are set. */
export function realModel(
  environment: Readonly<Record<string, string | undefined>>,
): RealModel | undefined {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL, OPENAI_MODEL } = environment;
  if (apiKey === undefined || apiKey === "") return undefined;
  const client = new OpenAI({ apiKey, ...(baseURL === undefined ? {} : { baseURL }) });
  const name = OPENAI_MODEL ?? DEFAULT_MODEL;
  return {
    name,
    turn({ body, signal }) {
      const asked = { ...(body as OpenAI.ChatCompletionCreateParams), model: name };
      const stream = client.chat.completions.stream({ ...asked, stream: true }, { signal });
      const calls = callsIn(stream.finalChatCompletion());
      // The reader of the words gets the failure; nobody reads the calls then.
      calls.catch(() => undefined);
      return { text: wordsOf(stream), calls };
    },
  };
}

async function* wordsOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): AsyncGenerator<string> {
  for await (const { choices } of stream) {
    const words = choices.at(0)?.delta.content;
    if (words != null && words !== "") yield words;
  }
}

async function callsIn(said: Promise<OpenAI.ChatCompletion>): Promise<readonly SaidCall[]> {
  const { choices } = await said;
  return choices.at(0)?.message.tool_calls?.flatMap(callOf) ?? [];
}

function callOf(call: OpenAI.ChatCompletionMessageToolCall): readonly SaidCall[] {
  if (call.type !== "function") return [];
  return [{ id: call.id, name: call.function.name, arguments: call.function.arguments }];
}
