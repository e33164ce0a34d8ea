import {
  base64Of,
  shownIn,
  shownToModel,
  sourceOf,
  speakerName,
  toolCallsOf,
  toolResultsOf,
  unshowable,
} from "@waybill/agent/adapter";
import type { Media } from "@waybill/agent/adapter";
import type { Message } from "@waybill/protocol";
import type { ChatCompletionContentPart, ChatCompletionMessageParam } from "openai/resources";

/**
 * A message as messages of the chat completions API, which takes each tool result as one of its
 * own.
 */
export function chatMessagesOf(message: Message): ChatCompletionMessageParam[] {
  const speaker = nameOf(message.name ?? "");
  const named = speaker === "" ? {} : { name: speaker };
  switch (message.role) {
    case "system":
    case "developer":
      return [{ role: message.role, content: textParts(message), ...named }];
    case "user":
      return [{ role: "user", content: shownIn(message).map(partOf), ...named }];
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

function textParts(message: Message): { type: "text"; text: string }[] {
  return shownIn(message).flatMap((text) =>
    typeof text === "string" && text !== "" ? [{ type: "text" as const, text }] : [],
  );
}

function partOf(shown: string | Media): ChatCompletionContentPart {
  return typeof shown === "string" ? { type: "text", text: shown } : mediaPartOf(shown);
}

function mediaPartOf(media: Media): ChatCompletionContentPart {
  const { type, media_type, name } = media;
  const source = sourceOf(media);
  if (type === "image") return { type: "image_url", image_url: { url: source } };
  const data = base64Of(media);
  if (data === undefined) throw unshowable(media, "the chat completions API takes no URL of it");
  if (type === "file")
    return { type: "file", file: { filename: name ?? "file", file_data: source } };
  const format = FORMATS[media_type];
  if (format === undefined) throw unshowable(media, "the chat completions API takes wav and mp3");
  return { type: "input_audio", input_audio: { data, format } };
}

const FORMATS: Readonly<Record<string, "wav" | "mp3" | undefined>> = {
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/wave": "wav",
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
};

/** The API allows no spaces or brackets in a name. */
function nameOf(name: string): string {
  return speakerName(name).replaceAll(/[\s<|\\/>]+/g, "_");
}
