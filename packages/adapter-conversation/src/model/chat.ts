import { usageRowOf } from "@waybill/agent/adapter";
import type { UsageRow } from "@waybill/protocol";
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionChunk,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
  CompletionUsage,
} from "openai/resources";
import { brokenOff } from "./failure.ts";
import { FORM_NAME } from "./said.ts";
import type { ModelRequest, Said, SaidCall } from "./said.ts";
import { chatMessagesOf } from "./to-chat.ts";

/** Calls a model by the chat completions API. */
export async function askChat(asked: ModelRequest): Promise<Said> {
  const { client, model, instructions, messages, tools, form, request, headers, signal } = asked;
  const body = {
    model,
    messages: [
      ...(instructions === undefined ? [] : [{ role: "system" as const, content: instructions }]),
      ...joined(messages.flatMap(chatMessagesOf)),
    ],
    ...(tools.length === 0 ? {} : { tools: tools.map(functionOf) }),
    ...(form === undefined
      ? {}
      : {
          response_format: { type: "json_schema", json_schema: { name: FORM_NAME, schema: form } },
        }),
    // Without this option a stream reports no usage.
    stream_options: { include_usage: true },
    ...request,
    stream: true,
  } as ChatCompletionCreateParamsStreaming;
  // The client's own helper throws at a reply that does not match its schema, so that the model
  // could not be asked again.
  const said = new Heard(asked.onDelta);
  const chunks = await client.chat.completions.create(body, { signal, headers });
  for await (const { choices, usage, model: by } of chunks) {
    for (const choice of choices) said.add(choice);
    if (usage != null) said.use(by, usage);
  }
  return said.whole();
}

/**
 * The API takes results only directly after the turn that calls, so what the assistant says in
 * between is moved to that turn.
 */
function joined(messages: readonly ChatCompletionMessageParam[]): ChatCompletionMessageParam[] {
  const turns: ChatCompletionMessageParam[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    const isCalling = last?.role === "assistant" && last.tool_calls !== undefined;
    if (isCalling && message.role === "assistant")
      turns.splice(-1, 1, {
        ...last,
        content: contentOf([last, message]),
        tool_calls: [...(last.tool_calls ?? []), ...(message.tool_calls ?? [])],
      });
    else turns.push(message);
  }
  return turns;
}

function contentOf(turns: readonly ChatCompletionAssistantMessageParam[]) {
  const parts = turns.flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text" as const, text: content }] : (content ?? []),
  );
  return parts.length === 0 ? null : parts;
}

/** A turn, assembled from its stream. */
class Heard {
  readonly #onDelta: (delta: string) => void;
  readonly #calls: SaidCall[] = [];
  #text = "";
  #refusal: string | undefined;
  #finish: string | undefined;
  #usage: UsageRow | undefined;

  constructor(onDelta: (delta: string) => void) {
    this.#onDelta = onDelta;
  }

  add({ delta, finish_reason: finish }: ChatCompletionChunk.Choice): void {
    this.#finish = finish ?? this.#finish;
    if (delta.refusal != null) this.#refusal = (this.#refusal ?? "") + delta.refusal;
    if (delta.content != null && delta.content !== "") {
      this.#text += delta.content;
      this.#onDelta(delta.content);
    }
    for (const { index, id, function: part } of delta.tool_calls ?? []) {
      const { id: known, name = "", arguments: given = "" } = this.#calls[index] ?? {};
      this.#calls[index] = {
        id: known ?? id ?? `call_${index}`,
        name: name + (part?.name ?? ""),
        arguments: given + (part?.arguments ?? ""),
      };
    }
  }

  use(model: string, usage: CompletionUsage): void {
    this.#usage = usageRowOf({
      model,
      requests: 1,
      input_tokens: usage.prompt_tokens,
      cached_input_tokens: usage.prompt_tokens_details?.cached_tokens,
      output_tokens: usage.completion_tokens,
      reasoning_tokens: usage.completion_tokens_details?.reasoning_tokens,
    });
  }

  whole(): Said {
    const finish = this.#finish;
    if (finish === undefined) throw brokenOff();
    const cutBy = finish === "length" || finish === "content_filter" ? finish : undefined;
    const [text, calls, refusal, usage] = [this.#text, this.#calls, this.#refusal, this.#usage];
    return { text, calls, refusal, usage, cutBy };
  }
}

function functionOf({ name, description, parameters }: ModelRequest["tools"][number]) {
  return { type: "function", function: { name, description, parameters } };
}
