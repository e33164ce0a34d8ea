import type { ModelMessage } from "@waybill/agent/model-messages";

/** Mastra joins consecutive turns of assistants, with nothing between their texts. */
export function onLinesOfTheirOwn(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message, index) => {
    const { role, content } = message;
    const isNext = role === "assistant" && messages[index - 1]?.role === "assistant";
    if (!isNext || typeof content === "string") return message;
    const [first, ...others] = content;
    if (first?.type !== "text") return message;
    return { role, content: [{ ...first, text: `\n${first.text}` }, ...others] };
  });
}
