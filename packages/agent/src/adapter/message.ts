import type { ContentPart, Json, Message } from "@waybill/protocol";

/** How a tool call is spelled in a message that every framework can read. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

/** What a tool said, to the call with this id. */
export interface ToolResult {
  readonly id: string;
  readonly output: Json;
}

/** A message of words alone. */
export function textMessage(role: Message["role"], text: string, name?: string): Message {
  const message: Message = { role, content: [{ type: "text", text }] };
  return name === undefined ? message : { ...message, name };
}

/** A tool call, as one part of a message. */
export function toolCallPart(call: ToolCall): ContentPart {
  return { type: "tool_call", id: call.id, name: call.name, arguments: call.arguments };
}

/** What a tool said, as one part of a message. */
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

/** What tools said, in a message. */
export function toolResultsOf({ content }: Message): ToolResult[] {
  return partsOf(content, "tool_result").map(({ id, output }) => ({
    id: String(id),
    output: (output ?? null) as Json,
  }));
}

function partsOf(content: readonly ContentPart[], type: string): ContentPart[] {
  return content.filter((part) => part.type === type);
}

/** The words of a message, without what only some can read. */
export function textOf({ content }: Message): string {
  return content.flatMap(({ text }) => text ?? []).join("\n");
}

/**
 * The messages that a run has added to the history it was given. A result carries these alone: its
 * delegator has the rest, as it was before any framework has read it.
 */
export function addedTo(history: readonly Message[], all: readonly Message[]): Message[] {
  return all.slice(history.length);
}
