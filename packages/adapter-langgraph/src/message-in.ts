import { textOf, toolCallsOf, toolResultsOf, wordsOf } from "@waybill/agent/adapter";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import type { Artifact, Message } from "@waybill/protocol";

/** Where LangChain carries along what it does not look at. */
export const ORIGINAL = "waybill";

/**
 * A message as LangChain has it. Its id makes it the same message whenever the run is started anew,
 * and tells what a run was given from what it has added. The message itself goes along, for the way
 * back: parts and members that LangChain has no place for stay as they are.
 */
export function toLangChain(message: Message, id?: string): BaseMessage[] {
  const results = toolResultsOf(message);
  if (message.role !== "tool" || results.length < 2) return [converted(message, id)];
  return results.map((result, index) =>
    converted(
      { ...message, content: message.content.filter((part) => part["id"] === result.id) },
      id === undefined ? undefined : `${id}.${index}`,
    ),
  );
}

function converted(message: Message, id: string | undefined): BaseMessage {
  const fields = {
    content: textOf(message),
    additional_kwargs: { [ORIGINAL]: message },
    ...(message.name === undefined ? {} : { name: message.name }),
    ...(id === undefined ? {} : { id }),
  };
  switch (message.role) {
    case "system":
    case "developer":
      return new SystemMessage(fields);
    case "user":
      return new HumanMessage(fields);
    case "tool": {
      const [result] = toolResultsOf(message);
      const content = result === undefined ? fields.content : wordsOf(result.output);
      return new ToolMessage({ ...fields, content, tool_call_id: result?.id ?? "" });
    }
    case "assistant":
      return new AIMessage({
        ...fields,
        tool_calls: toolCallsOf(message).map((call) => ({
          type: "tool_call",
          id: call.id,
          name: call.name,
          args: (call.arguments ?? {}) as Record<string, unknown>,
        })),
      });
  }
}

/** Files as a model is shown them: with the last that a user has said, or as something said. */
export function withFiles(
  messages: readonly BaseMessage[],
  artifacts: readonly Artifact[],
  id: string,
): BaseMessage[] {
  if (artifacts.length === 0) return [...messages];
  return [...messages, new HumanMessage({ id, content: artifacts.map(fileBlockOf) })];
}

function fileBlockOf({ name, media_type: mimeType, data, url, digest }: Artifact) {
  const metadata = { filename: name, digest };
  return data === undefined
    ? ({ type: "file", mimeType, url: url!, metadata } as const)
    : ({ type: "file", mimeType, data: toBase64(data), metadata } as const);
}

function toBase64(base64url: string): string {
  const text = base64url.replaceAll("-", "+").replaceAll("_", "/");
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}
