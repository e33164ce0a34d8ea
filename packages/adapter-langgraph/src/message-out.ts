/// <reference types="node" />
import { Buffer } from "node:buffer";
import { isDeepStrictEqual } from "node:util";
import { mediaFrom, textMessage, toolCallPart, toolResultPart } from "@waybill/agent/adapter";
import { AIMessage, BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ContentBlock } from "@langchain/core/messages";
import { stringifyJson } from "@waybill/protocol";
import type { ContentPart, Json, Message } from "@waybill/protocol";
import { ORIGINAL, toLangChain } from "./message-in.ts";

/** A message in a form that every framework can read: the one that came in, unless it was changed. */
export function fromLangChain(message: BaseMessage): Message {
  const original = message.additional_kwargs[ORIGINAL] as Message | undefined;
  if (original !== undefined && isUnchanged(message, original)) return original;
  const { name } = message;
  const role = ROLES[message.type] ?? "assistant";
  const content = partsOf(message);
  return { role, ...(name === undefined ? {} : { name }), content };
}

const ROLES: Readonly<Record<string, Message["role"]>> = {
  system: "system",
  developer: "developer",
  human: "user",
  tool: "tool",
};

function isUnchanged(message: BaseMessage, original: Message): boolean {
  const [before] = toLangChain(original);
  return isDeepStrictEqual(shownOf(message), shownOf(before!));
}

/** What a model sees of a message. */
function shownOf(message: BaseMessage): unknown {
  return [message.type, message.name, message.content, callsOf(message)];
}

function callsOf(message: BaseMessage) {
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
  return calls.map(({ id = "", name, args }) => ({ id, name, arguments: args as Json }));
}

function partsOf(message: BaseMessage): ContentPart[] {
  if (ToolMessage.isInstance(message)) {
    const output = jsonOf(message.content);
    return [toolResultPart({ id: message.tool_call_id, output })];
  }
  const { content } = message;
  const said =
    typeof content === "string"
      ? textMessage("assistant", content).content.filter(({ text }) => text !== "")
      : // Providers repeat a tool call among the parts; the authoritative one is in `tool_calls`.
        partsIn(message).filter(({ type }) => !CALLS.has(type));
  return [...said, ...callsOf(message).map(toolCallPart)];
}

/**
 * LangChain recognizes the images, recordings and files of every provider; other parts are passed on
 * unchanged.
 */
function partsIn(message: BaseMessage): ContentPart[] {
  const blocks = message.contentBlocks;
  const isShowing = blocks.some((block) => mediaPartOf(block) !== undefined);
  if (!isShowing) return jsonOf(message.content) as unknown as ContentPart[];
  return blocks.map((block) => mediaPartOf(block) ?? (jsonOf(block) as unknown as ContentPart));
}

function mediaPartOf(block: ContentBlock): ContentPart | undefined {
  const { type, mimeType, data, url, metadata } = block as Partial<ContentBlock.Multimodal.Image>;
  if (type !== "image" && type !== "audio" && type !== "file") return undefined;
  const name = (metadata as { filename?: string } | undefined)?.filename;
  if (data === undefined)
    return url === undefined
      ? undefined
      : mediaFrom({ type, source: url, name, mediaType: mimeType });
  const base64 = typeof data === "string" ? data : Buffer.from(data).toString("base64");
  const source = `data:${mimeType ?? "application/octet-stream"};base64,${base64}`;
  return mediaFrom({ type, source, name });
}

const CALLS: ReadonlySet<string> = new Set(["tool_use", "tool_call", "function_call"]);

/** A value of a graph's state as JSON, the messages in it as messages of Waybill. */
export function jsonOf(value: unknown): Json {
  return JSON.parse(stringifyJson(withMessages(value))) as Json;
}

function withMessages(value: unknown): unknown {
  if (BaseMessage.isInstance(value)) return fromLangChain(value);
  if (Array.isArray(value)) return value.map(withMessages);
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withMessages(each)]));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
