/// <reference types="node" />
import { Buffer } from "node:buffer";
import type { Artifact, ContentPart, Json, Message } from "@waybill/protocol";
import { artifactOf } from "../adapter/artifact.ts";
import { mediaFrom } from "../adapter/media.ts";
import { toolCallPart, toolResultPart } from "../adapter/message.ts";
import type { FileData, ModelMessage, ModelPart, ToolOutput } from "./model-message.ts";

/** The messages that an agent has added to the history, under its name if that is known. */
export function messagesOf(
  messages: readonly ModelMessage[],
  agent: string | undefined,
): Message[] {
  return messages.flatMap(({ role, content }): Message[] => {
    const parts: readonly ModelPart[] =
      typeof content === "string" ? [{ type: "text", text: content }] : content;
    const converted = parts.flatMap(partOf);
    // A message may contain nothing but the answer to a request for approval.
    if (converted.length === 0 && parts.length > 0) return [];
    const name = role === "assistant" ? agent : toolNameIn(parts);
    return [{ role, ...(name === undefined ? {} : { name }), content: converted }];
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
      return [toolResultPart({ id: part.toolCallId, output: valueOf(part.output) })];
    case "file": {
      const { data, mediaType, filename: name } = part;
      const [kind] = mediaType.split("/");
      const type = kind === "image" || kind === "audio" ? kind : "file";
      const source = sourceOf(data, mediaType);
      return [mediaFrom({ type, source, name, ...(kind === mediaType ? {} : { mediaType }) })];
    }
    default:
      return [];
  }
}

/** A call that was not approved has a reason in place of a value. */
function valueOf({ type, value, reason = "Not approved." }: ToolOutput): Json {
  return type === "execution-denied" ? { denied: reason } : (value ?? null);
}

function sourceOf(file: FileData, mediaType: string): string {
  const data =
    typeof file === "object" && "type" in file
      ? file.type === "url"
        ? new URL(file.url)
        : file.data
      : file;
  if (data instanceof URL || (typeof data === "string" && /^(https?|data):/.test(data)))
    return String(data);
  const base64 = typeof data === "string" ? data : Buffer.from(data).toString("base64");
  return `data:${mediaType};base64,${base64}`;
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
