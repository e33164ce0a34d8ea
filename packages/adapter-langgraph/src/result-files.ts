import { ToolMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import { mediaIn, mediaInWords, textMessage } from "@waybill/agent/adapter";
import type { Artifact, ContentPart, Message } from "@waybill/protocol";
import type { RemoteArtifact } from "./remote-tool.ts";

/** Where the last message of a remote member has its whole result. */
export const RECEIVED = "waybill";

/**
 * The whole result of a remote member, as it was received, from the member's last message. It is for
 * code: its messages may impersonate anybody.
 */
export function receivedIn({ response_metadata }: BaseMessage): RemoteArtifact | undefined {
  return response_metadata[RECEIVED] as RemoteArtifact | undefined;
}

/** The files of a graph's state, and those of its remote members and tools. */
export function filesOf(messages: readonly BaseMessage[], inState: unknown): Artifact[] {
  const given = messages.flatMap((message): unknown => {
    const result: unknown = ToolMessage.isInstance(message)
      ? message.artifact
      : receivedIn(message);
    return (result as Partial<RemoteArtifact> | null | undefined)?.artifacts;
  });
  const files = [inState, ...given].flatMap((each) => each).filter(isArtifact);
  return [...new Map(files.map((file) => [`${file.digest} ${file.name}`, file])).values()];
}

/** The author of a graph chooses the form of a state's members and of a tool's artifact. */
function isArtifact(value: unknown): value is Artifact {
  if (typeof value !== "object" || value === null) return false;
  const { digest, name, media_type } = value as Partial<Record<string, unknown>>;
  return [digest, name, media_type].every((member) => typeof member === "string");
}

/** A member's text with the names of its files: models are told the names, and code has the files. */
export function namingFiles(
  replies: readonly Message[],
  files: readonly Artifact[],
  name: string,
): Message[] {
  const shown = new Set(replies.flatMap(mediaIn).map(({ data }) => data));
  const names = files
    .filter(({ data }) => data === undefined || !shown.has(data))
    .map((file) => mediaInWords({ type: "file", media_type: file.media_type, name: file.name }));
  if (names.length === 0) return [...replies];
  const last = replies.at(-1);
  if (last === undefined) return [textMessage("assistant", names.join("\n"), name)];
  const parts = names.map((text): ContentPart => ({ type: "text", text }));
  return replies.with(-1, { ...last, content: [...last.content, ...parts] });
}
