import {
  mediaOf,
  shownToModel,
  sourceOf,
  speakerName,
  textOf,
  toolCallsOf,
  toolResultsOf,
  unshowable,
} from "@waybill/agent/adapter";
import type { Media } from "@waybill/agent/adapter";
import type { ContentPart, Message } from "@waybill/protocol";
import type { ResponseInputContent, ResponseInputItem } from "openai/resources/responses/responses";

/** A turn as items of the responses API. It has no names, so who speaks is said in the words. */
export function responseItemsOf(message: Message, self: string | undefined): ResponseInputItem[] {
  const { role, name } = message;
  const speaker = name === undefined || name === self ? "" : `${speakerName(name)}: `;
  switch (role) {
    case "system":
    case "developer":
      return [{ type: "message", role, content: speaker + textOf(message) }];
    case "user": {
      const parts = message.content.flatMap(partOf);
      const [first, ...rest] = parts;
      const content =
        first?.type === "input_text"
          ? [{ ...first, text: speaker + first.text }, ...rest]
          : [...(speaker === "" ? [] : [{ type: "input_text" as const, text: speaker }]), ...parts];
      return [{ type: "message", role, content }];
    }
    case "assistant": {
      const text = textOf(message);
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

function partOf(part: ContentPart): ResponseInputContent[] {
  const { type, text } = part;
  if (type === "text") return text === undefined ? [] : [{ type: "input_text", text }];
  if (type === "input_image" || type === "input_file")
    return [part as unknown as ResponseInputContent];
  const media = mediaOf(part);
  return media === undefined ? [] : [mediaPartOf(media)];
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
