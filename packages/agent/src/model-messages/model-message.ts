import type { Json } from "@waybill/protocol";

/** A part of a message of the AI SDK, as far as it is translated. */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "file";
      readonly data: FileData;
      /** Some frameworks give only the part before the slash. */
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
      readonly output: ToolOutput;
    };

/** The bytes of a file, in base64 if they are text, or their URL. */
export type FileData =
  | string
  | Uint8Array
  | URL
  | { readonly type: "data"; readonly data: string | Uint8Array }
  | { readonly type: "url"; readonly url: string | URL };

/** The output of a tool as a model is shown it. A denied call has no value. */
export interface ToolOutput {
  readonly type: string;
  readonly value?: Json;
  readonly reason?: string | undefined;
}

/** A message of the AI SDK, which agents of Mastra take and return as well. */
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

/** A tool call in a message of the assistant. */
export type ToolCallPart = Extract<ModelPart, { type: "tool-call" }>;
