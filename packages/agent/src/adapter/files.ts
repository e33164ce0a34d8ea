import type { Artifact, ContentPart, Message } from "@waybill/protocol";
import { mediaIn, mediaPart } from "./media.ts";

/** A part of a message that stands for a file which goes along with the work. */
function filePart({ name, media_type, data, url }: Artifact): ContentPart {
  const type = media_type.startsWith("image/") ? "image" : "file";
  return mediaPart({ type, name, media_type, data, url });
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
  const parts = artifacts.filter(({ data, url }) => !known.has(data ?? url)).map(filePart);
  if (parts.length === 0) return messages;
  const last = messages.findLastIndex(({ role }) => role === "user");
  if (last === -1) return [{ role: "user", content: parts }, ...messages];
  const message = messages[last]!;
  return messages.with(last, { ...message, content: [...message.content, ...parts] });
}
