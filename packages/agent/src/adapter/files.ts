/// <reference types="node" />
import { Buffer } from "node:buffer";
import type { Artifact, ContentPart, Message } from "@waybill/protocol";
import { artifactOf, unloaded } from "./artifact.ts";
import { mediaIn, mediaPart } from "./media.ts";

/** A part of a message that refers to a file sent along with the work. */
function filePart(artifact: Artifact): ContentPart {
  const { name, media_type, data, url, size } = artifact;
  if (size !== undefined) throw unloaded(artifact);
  const type = media_type.startsWith("image/") ? "image" : "file";
  return mediaPart({ type, name, media_type, data, url });
}

/**
 * The media in messages as files, for work that carries no messages. Media at a URL are described in
 * words only, because their digest is unknown here.
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
 * Adds files to the last turn of a user, or as a turn of their own where there is none. Files that a
 * message shows already are not added again.
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
