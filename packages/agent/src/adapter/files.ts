/// <reference types="node" />
import { Buffer } from "node:buffer";
import type { Artifact, ContentPart, Message } from "@waybill/protocol";

/** A part of a message that stands for a file which goes along with the work. */
function filePart({ name, media_type, data, url }: Artifact): ContentPart {
  const source =
    data === undefined
      ? url!
      : `data:${media_type};base64,${Buffer.from(data, "base64url").toString("base64")}`;
  return { type: "file", name, media_type, source };
}

/** Files go with the last turn of a user; where nobody has spoken, they are one. */
export function withFiles(
  messages: readonly Message[],
  artifacts: readonly Artifact[],
): readonly Message[] {
  if (artifacts.length === 0) return messages;
  const parts = artifacts.map(filePart);
  const last = messages.findLastIndex(({ role }) => role === "user");
  if (last === -1) return [{ role: "user", content: parts }, ...messages];
  const message = messages[last]!;
  return messages.with(last, { ...message, content: [...message.content, ...parts] });
}
