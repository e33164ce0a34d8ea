import type { ContentPart, Json, Message } from "@waybill/protocol";

/** A tool call in the form that messages of every framework use here. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

/** The result of a tool, for the call with this id. */
export interface ToolResult {
  readonly id: string;
  readonly output: Json;
}

/** A message with text only. */
export function textMessage(role: Message["role"], text: string, name?: string): Message {
  const message: Message = { role, content: [{ type: "text", text }] };
  return name === undefined ? message : { ...message, name };
}

/** A tool call, as one part of a message. */
export function toolCallPart(call: ToolCall): ContentPart {
  return { type: "tool_call", id: call.id, name: call.name, arguments: call.arguments };
}

/** The result of a tool, as one part of a message. */
export function toolResultPart(result: ToolResult): ContentPart {
  return { type: "tool_result", id: result.id, output: result.output };
}

/** The tool calls in a message. */
export function toolCallsOf({ content }: Message): ToolCall[] {
  return partsOf(content, "tool_call").map(({ id, name, arguments: given }) => ({
    id: String(id),
    name: String(name),
    arguments: (given ?? {}) as Json,
  }));
}

/** The tool results in a message. */
export function toolResultsOf({ content }: Message): ToolResult[] {
  return partsOf(content, "tool_result").map(({ id, output }) => ({
    id: String(id),
    output: (output ?? null) as Json,
  }));
}

function partsOf(content: readonly ContentPart[], type: string): ContentPart[] {
  return content.filter((part) => part.type === type);
}

/** The text of a message, without parts that only some frameworks can read. */
export function textOf({ content }: Message): string {
  return content.flatMap(({ text }) => text ?? []).join("\n");
}

/**
 * The messages that a run has added to the history. A result carries only these: its delegator has the
 * rest, unchanged by any framework.
 */
export function addedTo(history: readonly Message[], all: readonly Message[]): Message[] {
  return all.slice(history.length);
}
