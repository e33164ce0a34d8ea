/// <reference types="node" />
import { Buffer } from "node:buffer";
import {
  artifactOf,
  mediaFrom,
  textMessage,
  toolCallPart,
  toolResultPart,
} from "@waybill/agent/adapter";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Artifact, ContentPart, Json, Message } from "@waybill/protocol";
import type { ModelRequest } from "@waybill/scripted-model";
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  ChatCompletionMessageParam,
} from "openai/resources";
import type {
  ResponseCreateParams,
  ResponseInputContent,
  ResponseInputItem,
  ResponseOutputText,
} from "openai/resources/responses/responses";

/** What a model was actually shown through the chat completions API. */
export function seenByChat({ body }: ModelRequest): PortableWork {
  const { messages } = body as ChatCompletionCreateParams;
  const names = new Map<string, string>();
  const artifacts: Artifact[] = [];
  const seen = messages.map((message): Message => {
    const content = partsOf(message).flatMap((part): ContentPart[] => {
      if (part.type === "text") return [{ type: "text", text: part.text }];
      if (part.type === "image_url")
        return [mediaFrom({ type: "image", source: part.image_url.url })];
      if (part.type === "input_audio") {
        const { data, format } = part.input_audio;
        return [mediaFrom({ type: "audio", source: `data:audio/${format};base64,${data}` })];
      }
      if (part.type === "file") artifacts.push(fileFrom(part.file.filename, part.file.file_data));
      return [];
    });
    const named = "name" in message && message.name !== undefined ? { name: message.name } : {};
    if (message.role === "tool") {
      const id = message.tool_call_id;
      const output = valueOf(message.content);
      return { role: "tool", name: names.get(id)!, content: [toolResultPart({ id, output })] };
    }
    const calls = "tool_calls" in message ? (message.tool_calls ?? []) : [];
    for (const call of calls) {
      if (call.type !== "function") continue;
      const { name, arguments: given } = call.function;
      names.set(call.id, name);
      content.push(toolCallPart({ id: call.id, name, arguments: JSON.parse(given) as Json }));
    }
    return { role: message.role as Message["role"], ...named, content };
  });
  return { messages: seen, ...(artifacts.length === 0 ? {} : { artifacts }) };
}

/** What a model was actually shown through the responses API. */
export function seenByResponses({ body }: ModelRequest): PortableWork {
  const { input } = body as ResponseCreateParams;
  const artifacts: Artifact[] = [];
  const seen = (input as ResponseInputItem[]).map((item): Message => {
    if (item.type === "function_call") {
      const { call_id: id, name, arguments: given } = item;
      const call = toolCallPart({ id, name, arguments: JSON.parse(given) as Json });
      return { role: "assistant", content: [call] };
    }
    if (item.type === "function_call_output") {
      const { call_id: id, output } = item;
      return {
        role: "tool",
        content: [toolResultPart({ id: id!, output: valueOf(output) })],
      };
    }
    const { role, content } = item as {
      role: Message["role"];
      content: string | (ResponseInputContent | ResponseOutputText)[];
    };
    if (typeof content === "string") return textMessage(role, content);
    const parts = content.flatMap((part) => {
      if (part.type === "input_text" || part.type === "output_text")
        return [{ type: "text", text: part.text }];
      if (part.type === "input_image" && part.image_url != null)
        return [mediaFrom({ type: "image", source: part.image_url })];
      if (part.type === "input_file")
        artifacts.push(fileFrom(part.filename ?? undefined, part.file_data ?? undefined));
      return [];
    });
    return { role, content: parts };
  });
  return { messages: seen, ...(artifacts.length === 0 ? {} : { artifacts }) };
}

function partsOf({ content }: ChatCompletionMessageParam): ChatCompletionContentPart[] {
  if (typeof content !== "string") return (content ?? []) as ChatCompletionContentPart[];
  return [{ type: "text", text: content }];
}

/** Results that are not text are encoded as JSON. */
function valueOf(output: unknown): Json {
  const isJson = typeof output === "string" && output.startsWith("{");
  return isJson ? (JSON.parse(output) as Json) : (output as Json);
}

function fileFrom(name = "", source = ""): Artifact {
  const [head = "", data = ""] = source.split(";base64,");
  return artifactOf(name, head.slice("data:".length), Buffer.from(data, "base64"));
}
