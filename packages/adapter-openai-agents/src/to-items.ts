import {
  shownIn,
  shownToModel,
  sourceOf,
  toolCallsOf,
  toolResultsOf,
  unshowable,
} from "@waybill/agent/adapter";
import type { Media } from "@waybill/agent/adapter";
import type { AgentInputItem, AssistantMessageItem } from "@openai/agents";
import type { Message } from "@waybill/protocol";
import { remember } from "./originals.ts";
import { spokenBy } from "./speaker.ts";

/** A history as items of the SDK. */
export function itemsOf(messages: readonly Message[]): AgentInputItem[] {
  const turns = messages.map((message) => [message, itemsOfOne(message)] as const);
  remember(turns);
  return turns.flatMap(([, items]) => items);
}

/** Items have no names, so the text names the speaker. */
function itemsOfOne(message: Message): AgentInputItem[] {
  const { role, name } = message;
  const speaker = name === undefined ? "" : spokenBy(name, "");
  switch (role) {
    case "system":
    case "developer":
      return [{ type: "message", role: "system", content: speaker + wordsIn(message) }];
    case "user":
      return [{ type: "message", role, content: contentOf(message, speaker) }];
    case "assistant": {
      const text = wordsIn(message);
      return [
        ...(text === "" ? [] : [assistantItem(speaker + text)]),
        ...toolCallsOf(message).map((call) => ({
          type: "function_call" as const,
          callId: call.id,
          name: call.name,
          arguments: JSON.stringify(call.arguments),
          status: "completed" as const,
        })),
      ];
    }
    case "tool":
      return toolResultsOf(message).map(({ id, output }) => ({
        type: "function_call_result",
        callId: id,
        name: name ?? "tool",
        output: { type: "text", text: shownToModel(message, output) },
        status: "completed",
      }));
  }
}

export function assistantItem(text: string): AssistantMessageItem {
  return {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text }],
  };
}

type UserContent = Exclude<Extract<AgentInputItem, { role: "user" }>["content"], string>;

function contentOf(message: Message, speaker: string): UserContent {
  const parts = shownIn(message).map(partOf);
  const [first, ...rest] = parts;
  if (speaker === "") return parts;
  return first?.type === "input_text"
    ? [{ ...first, text: speaker + first.text }, ...rest]
    : [{ type: "input_text", text: speaker }, ...parts];
}

function wordsIn(message: Message): string {
  return shownIn(message)
    .filter((each) => typeof each === "string")
    .join("\n");
}

function partOf(shown: string | Media): UserContent[number] {
  return typeof shown === "string" ? { type: "input_text", text: shown } : mediaPartOf(shown);
}

function mediaPartOf(media: Media): UserContent[number] {
  const { type, name, url } = media;
  const source = sourceOf(media);
  if (type === "image") return { type: "input_image", image: source };
  if (type === "audio") throw unshowable(media, "the models of the SDK take no audio in a history");
  const file = url === undefined ? source : { url };
  return { type: "input_file", file, ...(name === undefined ? {} : { filename: name }) };
}
