/// <reference types="node" />
import { Buffer } from "node:buffer";
import { artifactOf, mediaFrom, toolCallPart, toolResultPart } from "@waybill/agent/adapter";
import type { Artifact, ContentPart, Json, Message } from "@waybill/protocol";
import type { ModelMessage, ModelPart } from "./model-message.ts";

/** The messages that an agent has added to the history, under its name if that is known. */
export function messagesOf(
  messages: readonly ModelMessage[],
  agent: string | undefined,
): Message[] {
  return messages.map(({ role, content }) => {
    const parts: readonly ModelPart[] =
      typeof content === "string" ? [{ type: "text", text: content }] : content;
    const name = role === "assistant" ? agent : toolNameIn(parts);
    return { role, ...(name === undefined ? {} : { name }), content: parts.flatMap(partOf) };
  });
}

function toolNameIn(parts: readonly ModelPart[]): string | undefined {
  return parts.find((part) => part.type === "tool-result")?.toolName;
}

function partOf(part: ModelPart): ContentPart[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "tool-call":
      return [toolCallPart({ id: part.toolCallId, name: part.toolName, arguments: part.input })];
    case "tool-result":
      return [toolResultPart({ id: part.toolCallId, output: part.output.value })];
    case "file": {
      const { data, mediaType, filename: name } = part;
      const type = mediaType.startsWith("image/")
        ? "image"
        : mediaType.startsWith("audio/")
          ? "audio"
          : "file";
      const isElsewhere = typeof data !== "string" || /^https?:/.test(data);
      const source = isElsewhere ? String(data) : `data:${mediaType};base64,${data}`;
      return [mediaFrom({ type, source, name, mediaType })];
    }
    default:
      return [];
  }
}

/** Files that a model or a tool has made, at any place in its output. */
export function artifactsIn(value: unknown): Artifact[] {
  if (Array.isArray(value)) return value.flatMap(artifactsIn);
  if (typeof value !== "object" || value === null) return [];
  if ("digest" in value && "media_type" in value) return [value as Artifact];
  const { type, data, base64, mediaType, filename } = value as Partial<Record<string, unknown>>;
  const bytes = data ?? base64;
  if (typeof bytes === "string" && typeof mediaType === "string") {
    const name = typeof filename === "string" ? filename : "file";
    return [artifactOf(name, mediaType, Buffer.from(bytes, "base64"))];
  }
  return type === "file" ? [] : Object.values(value as Record<string, Json>).flatMap(artifactsIn);
}
