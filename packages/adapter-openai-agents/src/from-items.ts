/// <reference types="node" />
import { Buffer } from "node:buffer";
import {
  artifactOf,
  mediaFrom,
  textMessage,
  toolCallPart,
  toolResultPart,
} from "@waybill/agent/adapter";
import { parseJson } from "@waybill/protocol";
import type { Artifact, ContentPart, Json, Message } from "@waybill/protocol";
import type { AgentInputItem } from "@openai/agents";
import { recall } from "./originals.ts";
import { withoutSpeaker } from "./speaker.ts";

/** Items of the SDK as messages; the original messages where these are known. */
export function messagesOf(items: readonly AgentInputItem[]): Message[] {
  const known = recall(items);
  return [...known.messages, ...turnsOf(withSpeakers(items).slice(known.items))];
}

/** Items have no names: the speaker is the agent to which the latest transfer went. */
function withSpeakers(items: readonly AgentInputItem[]): SpokenItem[] {
  let by: string | undefined;
  return items.map((item) => {
    if (item.type === "function_call_result") by = transferredTo(resultOf(item.output)) ?? by;
    const isAssistants =
      item.type === "function_call" || ("role" in item && item.role === "assistant");
    return { item, by: isAssistants ? by : undefined };
  });
}

/** The target of a transfer, from the result that the SDK gives its call. */
function transferredTo(result: Json): string | undefined {
  const value = typeof result === "string" ? valueOf(result) : result;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { assistant, ...others } = value;
  const isTransfer = typeof assistant === "string" && Object.keys(others).length === 0;
  return isTransfer ? assistant : undefined;
}

export interface SpokenItem {
  readonly item: AgentInputItem;
  /** The agent that has said it. */
  readonly by?: string | undefined;
}

/** Consecutive text and calls of one agent are one turn. */
export function turnsOf(spoken: readonly SpokenItem[]): Message[] {
  const turns: Message[] = [];
  for (const { item, by } of spoken) {
    const message = messageOf(item, by);
    if (message === undefined) continue;
    const last = turns.at(-1);
    const goesOn =
      last?.role === "assistant" && item.type === "function_call" && last.name === message.name;
    if (goesOn) last.content.push(...message.content);
    else turns.push(message);
  }
  return turns;
}

/** Files in a history: those that users have added, and those that tools have made. */
export function artifactsIn(items: readonly AgentInputItem[]): Artifact[] {
  return items.flatMap((item) => partsOf(item).flatMap(artifactsOf));
}

function partsOf(item: AgentInputItem): readonly Shown[] {
  const content =
    item.type === "function_call_result" ? item.output : "role" in item ? item.content : undefined;
  return Array.isArray(content) ? content : [];
}

interface Shown {
  readonly type?: string | undefined;
  readonly file?: unknown;
  readonly image?: unknown;
  readonly filename?: string | undefined;
}

function artifactsOf(part: Shown): Artifact[] {
  const { type, file, image, filename } = part;
  if (type === "input_file" && typeof file === "string") return fileFrom(filename ?? "file", file);
  if (type === "input_image" && typeof image === "string") return fileFrom("image", image);
  return [];
}

function messageOf(item: AgentInputItem, by: string | undefined): Message | undefined {
  if (item.type === "function_call") {
    const { callId: id, name, arguments: given } = item;
    const call = toolCallPart({ id, name, arguments: valueOf(given) });
    return { ...(by === undefined ? {} : { name: by }), role: "assistant", content: [call] };
  }
  if (item.type === "function_call_result") {
    const { callId: id, name, output } = item;
    const result = toolResultPart({ id, output: resultOf(output) });
    return { role: "tool", name, content: [result] };
  }
  // Reasoning and the host's own tools are of use only to that host.
  if (!("role" in item)) return undefined;
  const words = wordsIn(item.content);
  const said = by === undefined ? words : withoutSpeaker(by, words);
  const message = textMessage(item.role, said, by);
  const media = partsOf(item).flatMap(mediaPartOf);
  if (media.length === 0) return message;
  const texts = message.content.filter(({ text }) => text !== "");
  return { ...message, content: [...texts, ...media] };
}

/**
 * An image or a file of an item. A reference to a file at a model's host is of use only to that
 * host.
 */
function mediaPartOf(part: Shown): ContentPart[] {
  const { type, file, image, filename: name } = part;
  if (type === "input_image" && typeof image === "string")
    return [mediaFrom({ type: "image", source: image })];
  if (type !== "input_file") return [];
  const source = typeof file === "string" ? file : (file as { url?: string } | undefined)?.url;
  return source === undefined ? [] : [mediaFrom({ type: "file", source, name })];
}

function wordsIn(content: string | readonly object[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => ("text" in part ? (part.text as string) : [])).join("\n");
}

function resultOf(output: unknown): Json {
  if (typeof output === "string") return output;
  const isText = typeof output === "object" && output !== null && "text" in output;
  return isText ? (output.text as string) : (JSON.parse(JSON.stringify(output ?? null)) as Json);
}

function valueOf(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function fileFrom(name: string, source: string): Artifact[] {
  const [head = "", data] = source.split(";base64,");
  if (data === undefined) return [];
  return [artifactOf(name, head.slice("data:".length), Buffer.from(data, "base64"))];
}
