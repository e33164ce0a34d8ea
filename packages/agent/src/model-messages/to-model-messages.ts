/// <reference types="node" />
import { Buffer } from "node:buffer";
import type { Artifact, Json, Message } from "@waybill/protocol";
import { bytesOf } from "../adapter/artifact.ts";
import { shownIn } from "../adapter/host-parts.ts";
import { base64Of, mediaIn, shownByUsers, unshowable } from "../adapter/media.ts";
import type { Media } from "../adapter/media.ts";
import { textOf, toolCallsOf, toolResultsOf } from "../adapter/message.ts";
import { speakerName } from "../adapter/speaker.ts";
import type { ModelMessage, ModelPart } from "./model-message.ts";

/**
 * A history for a model. The messages have no field for names, so the text names the speaker,
 * unless it is the agent itself.
 */
export function modelMessagesOf(
  messages: readonly Message[],
  {
    self,
    artifacts = [],
  }: { self?: string | undefined; artifacts?: readonly Artifact[] | undefined } = {},
): ModelMessage[] {
  const names = new Map(messages.flatMap(toolCallsOf).map(({ id, name }) => [id, name]));
  const converted = shownByUsers(messages).map((message) => modelMessageOf(message, names, self));
  if (artifacts.length === 0) return converted;
  const known = new Set(messages.flatMap(mediaIn).map(({ data }) => data));
  const files = artifacts.filter(({ data }) => data === undefined || !known.has(data)).map(shownOf);
  const last = converted.findLastIndex(({ role }) => role === "user");
  if (last === -1) return [{ role: "user", content: files }, ...converted];
  const { content } = converted[last]!;
  return converted.with(last, { role: "user", content: [...(content as ModelPart[]), ...files] });
}

function modelMessageOf(
  message: Message,
  names: ReadonlyMap<string, string>,
  self: string | undefined,
): ModelMessage {
  const { role, name: speaker } = message;
  if (role === "system" || role === "developer")
    return { role: "system", content: textOf(message) };
  if (role === "tool") {
    const results = toolResultsOf(message).map(({ id, output }) =>
      toolResult(id, names.get(id) ?? message.name ?? "tool", output),
    );
    return { role, content: results };
  }
  const shown = shownIn(message);
  const texts = shown.filter((each) => typeof each === "string");
  const media = shown.filter((each) => typeof each !== "string").map(mediaPartOf);
  const isNamed = speaker !== undefined && !(role === "assistant" && speaker === self);
  const said = isNamed ? spokenBy(speaker, texts, media.length > 0) : texts;
  const calls = toolCallsOf(message).map(({ id, name, arguments: input }): ModelPart => ({
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    input,
  }));
  return {
    role: role === "user" ? "user" : "assistant",
    content: [...said.map((text): ModelPart => ({ type: "text", text })), ...media, ...calls],
  };
}

function spokenBy(name: string, [first, ...others]: readonly string[], shows: boolean): string[] {
  const speaker = speakerName(name);
  if (first === undefined) return shows ? [`${speaker}:`] : [];
  return [`${speaker}: ${first}`, ...others];
}

/**
 * An image, a recording or a file as a part. The model's host itself rejects types that it does not
 * take.
 */
function mediaPartOf(media: Media): ModelPart {
  const { media_type: mediaType, name } = media;
  const data = base64Of(media);
  if (data === undefined && media.type !== "image")
    throw unshowable(media, "it lies at a URL, and models' hosts take the URLs of images alone");
  const filename = name === undefined ? {} : { filename: name };
  return { type: "file", data: data ?? new URL(media.url!), mediaType, ...filename };
}

/** The result of a tool, for the model. */
export function toolResult(toolCallId: string, toolName: string, value: Json): ModelPart {
  const type = typeof value === "string" ? "text" : "json";
  return { type: "tool-result", toolCallId, toolName, output: { type, value } };
}

/**
 * The file types that models' hosts accept. The model is told of other files, and tools get them
 * complete.
 */
const SHOWN = /^(image|audio|text)\/|^application\/pdf$/;

function shownOf(artifact: Artifact): ModelPart {
  const { name, media_type: mediaType } = artifact;
  if (SHOWN.test(mediaType)) return fileOf(artifact);
  return { type: "text", text: `[The file ${name}, of type ${mediaType}, goes along.]` };
}

/** A file as a part of a message or of a tool's result. */
export function fileOf(artifact: Artifact): Extract<ModelPart, { type: "file" }> {
  const data = Buffer.from(bytesOf(artifact)).toString("base64");
  return { type: "file", data, mediaType: artifact.media_type, filename: artifact.name };
}
