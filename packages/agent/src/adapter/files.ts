/// <reference types="node" />
import { Buffer } from "node:buffer";
import type { Artifact, ContentPart, Message } from "@waybill/protocol";
import { artifactOf, unloaded } from "./artifact.ts";
import { mediaIn, mediaPart } from "./media.ts";

/** A part of a message that stands for a file which goes along with the work. */
function filePart(artifact: Artifact): ContentPart {
  const { name, media_type, data, url, size } = artifact;
  if (size !== undefined) throw unloaded(artifact);
  const type = media_type.startsWith("image/") ? "image" : "file";
  return mediaPart({ type, name, media_type, data, url });
}

/**
 * What messages show as files, for work in which no messages go along. Of what lies at a URL nobody
 * here knows the digest that a file has, so that is told in words alone.
 */
export function filesIn(
  messages: readonly Message[],
  others: readonly Artifact[] = [],
): Artifact[] {
  const files = new Map(others.map((file) => [file.digest, file]));
  for (const { type, name = type, media_type, data } of messages.flatMap(mediaIn)) {
    if (data === undefined) continue;
    const file = artifactOf(name, media_type, Buffer.from(data, "base64url"));
    if (!files.has(file.digest)) files.set(file.digest, file);
  }
  return [...files.values()];
}

/**
 * Files go with the last turn of a user; where nobody has spoken, they are one. A file that a message
 * shows already is not shown again.
 */
export function withFiles(
  messages: readonly Message[],
  artifacts: readonly Artifact[],
): readonly Message[] {
  const known = new Set(messages.flatMap(mediaIn).map(({ data, url }) => data ?? url));
  const parts = artifacts
    .filter(({ data, url, size }) => size !== undefined || !known.has(data ?? url))
    .map(filePart);
  if (parts.length === 0) return messages;
  const last = messages.findLastIndex(({ role }) => role === "user");
  if (last === -1) return [{ role: "user", content: parts }, ...messages];
  const message = messages[last]!;
  return messages.with(last, { ...message, content: [...message.content, ...parts] });
}
