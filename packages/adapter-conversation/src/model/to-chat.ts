import { shownToModel, toolCallsOf, toolResultsOf } from "@waybill/agent/adapter";
import type { ContentPart, Message } from "@waybill/protocol";
import type { ChatCompletionContentPart, ChatCompletionMessageParam } from "openai/resources";

/** A turn in the words of the chat completions API; several results are several turns there. */
export function chatMessagesOf(message: Message): ChatCompletionMessageParam[] {
  const named = message.name === undefined ? {} : { name: nameOf(message.name) };
  switch (message.role) {
    case "system":
    case "developer":
      return [{ role: message.role, content: textParts(message), ...named }];
    case "user":
      return [{ role: "user", content: message.content.flatMap(partOf), ...named }];
    case "assistant": {
      const calls = toolCallsOf(message).map(({ id, name, arguments: given }) => ({
        id,
        type: "function" as const,
        function: { name, arguments: JSON.stringify(given) },
      }));
      const text = textParts(message);
      return [
        {
          role: "assistant",
          content: text.length === 0 ? null : text,
          ...named,
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
      ];
    }
    case "tool":
      return toolResultsOf(message).map(({ id, output }) => ({
        role: "tool",
        tool_call_id: id,
        content: shownToModel(message, output),
      }));
  }
}

function textParts({ content }: Message): { type: "text"; text: string }[] {
  return content.flatMap(({ type, text }) =>
    type === "text" && text !== undefined && text !== "" ? [{ type: "text" as const, text }] : [],
  );
}

/** What the API has no part for is left out: the model can't see it, and a tool can. */
function partOf(part: ContentPart): ChatCompletionContentPart[] {
  const { type, text } = part;
  if (type === "text") return text === undefined ? [] : [{ type, text }];
  if (type === "image_url" || type === "input_audio")
    return [part as unknown as ChatCompletionContentPart];
  if (type !== "file") return [];
  const { name, media_type, source } = part as unknown as Record<string, string>;
  if (source === undefined) return [part as unknown as ChatCompletionContentPart];
  return media_type!.startsWith("image/")
    ? [{ type: "image_url", image_url: { url: source } }]
    : [{ type: "file", file: { filename: name!, file_data: source } }];
}

/** The API takes no blanks and brackets in a name. */
function nameOf(name: string): string {
  return name.replaceAll(/[\s<|\\/>]+/g, "_").slice(0, 64);
}
