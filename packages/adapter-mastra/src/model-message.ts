import type { Json } from "@waybill/protocol";

/** A part of a message of the AI SDK, as far as it is translated. */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "file";
      readonly data: string | URL;
      readonly mediaType: string;
      readonly filename?: string | undefined;
    }
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: Json;
    }
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly output: { readonly type: string; readonly value: Json };
    };

/** A message of the AI SDK, which is what Mastra's agents take and return. */
export interface ModelMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly ModelPart[];
}

/** The calls of a model that have no result. */
export function openCallsOf(messages: readonly ModelMessage[]): ToolCallPart[] {
  const parts = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const done = new Set(
    parts.flatMap((part) => (part.type === "tool-result" ? part.toolCallId : [])),
  );
  return parts.filter(
    (part): part is ToolCallPart => part.type === "tool-call" && !done.has(part.toolCallId),
  );
}

export type ToolCallPart = Extract<ModelPart, { type: "tool-call" }>;
