import {
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
import type { ResponseInputContent, ResponseInputItem } from "openai/resources/responses/responses";

/** A message as items of the responses API. Items have no names, so the text names the speaker. */
export function responseItemsOf(message: Message, self: string | undefined): ResponseInputItem[] {
  const { role, name } = message;
  const speaker = name === undefined || name === self ? "" : `${speakerName(name)}: `;
  switch (role) {
    case "system":
    case "developer":
      return [{ type: "message", role, content: speaker + wordsIn(message) }];
    case "user": {
      const parts = shownIn(message).map(partOf);
      const [first, ...rest] = parts;
      const content =
        first?.type === "input_text"
          ? [{ ...first, text: speaker + first.text }, ...rest]
          : [...(speaker === "" ? [] : [{ type: "input_text" as const, text: speaker }]), ...parts];
      return [{ type: "message", role, content }];
    }
    case "assistant": {
      const text = wordsIn(message);
      return [
        ...(text === "" ? [] : [{ type: "message" as const, role, content: speaker + text }]),
        ...toolCallsOf(message).map((call) => ({
          type: "function_call" as const,
          call_id: call.id,
          name: call.name,
          arguments: JSON.stringify(call.arguments),
        })),
      ];
    }
    case "tool":
      return toolResultsOf(message).map(({ id, output }) => ({
        type: "function_call_output",
        call_id: id,
        output: shownToModel(message, output),
      }));
  }
}

function wordsIn(message: Message): string {
  return shownIn(message)
    .filter((each) => typeof each === "string")
    .join("\n");
}

function partOf(shown: string | Media): ResponseInputContent {
  return typeof shown === "string" ? { type: "input_text", text: shown } : mediaPartOf(shown);
}

function mediaPartOf(media: Media): ResponseInputContent {
  const { type, name = "file", url } = media;
  if (type === "audio") throw unshowable(media, "the responses API takes no audio");
  const source = sourceOf(media);
  if (type === "image") return { type: "input_image", image_url: source, detail: "auto" };
  return url === undefined
    ? { type: "input_file", filename: name, file_data: source }
    : { type: "input_file", file_url: url };
}
