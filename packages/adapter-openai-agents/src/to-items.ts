import { shownToModel, textOf, toolCallsOf, toolResultsOf } from "@waybill/agent/adapter";
import type { AgentInputItem, AssistantMessageItem } from "@openai/agents";
import type { ContentPart, Message } from "@waybill/protocol";
import { remember } from "./originals.ts";

/** A history as the SDK has it. */
export function itemsOf(messages: readonly Message[]): AgentInputItem[] {
  const turns = messages.map((message) => [message, itemsOfOne(message)] as const);
  remember(turns);
  return turns.flatMap(([, items]) => items);
}

/** Items have no names, so who speaks is said in the words. */
function itemsOfOne(message: Message): AgentInputItem[] {
  const { role, name } = message;
  const speaker = name === undefined ? "" : `${name}: `;
  switch (role) {
    case "system":
    case "developer":
      return [{ type: "message", role: "system", content: speaker + textOf(message) }];
    case "user":
      return [{ type: "message", role, content: contentOf(message, speaker) }];
    case "assistant": {
      const text = textOf(message);
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

function contentOf({ content }: Message, speaker: string): UserContent {
  const parts = content.flatMap(partOf);
  const [first, ...rest] = parts;
  if (speaker === "" || first?.type !== "input_text") return parts;
  return [{ ...first, text: speaker + first.text }, ...rest];
}

function partOf(part: ContentPart): UserContent {
  const { type, text } = part;
  if (type === "text") return text === undefined ? [] : [{ type: "input_text", text }];
  const { name, media_type, source } = part as unknown as Record<string, string | undefined>;
  if (type !== "file" || source === undefined) return [];
  if (media_type?.startsWith("image/")) return [{ type: "input_image", image: source }];
  return [{ type: "input_file", file: source, ...(name === undefined ? {} : { filename: name }) }];
}
