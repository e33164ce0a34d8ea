import { artifactOf, textMessage } from "@waybill/agent/adapter";
import type { Finished, PortableWork } from "@waybill/agent/adapter";
import type { Artifact, Json, Message } from "@waybill/protocol";
import type { EchoFile, EchoLine, EchoPrompt, EchoReply } from "./echo.ts";

/** What an Echo has replied, as the end of a run. */
export function finishedOf({ value, lines, files }: EchoReply): Finished {
  return {
    output: value as Json | undefined,
    messages: lines?.map(messageOf),
    artifacts: files?.map(artifactFrom),
  };
}

/** What an Echo says to a tool, as work. */
export function workOf({ value, lines, files }: EchoPrompt): PortableWork {
  return {
    ...(value === undefined ? {} : { input: value as Json }),
    ...(lines.length === 0 ? {} : { messages: lines.map(messageOf) }),
    ...(files.length === 0 ? {} : { artifacts: files.map(artifactFrom) }),
  };
}

function artifactFrom({ title, type, bytes }: EchoFile): Artifact {
  return artifactOf(title, type, bytes);
}

const ROLES: Readonly<Record<string, Message["role"]>> = {
  system: "system",
  developer: "developer",
  user: "user",
  tool: "tool",
};

function messageOf({ speaker, name, text, extra }: EchoLine): Message {
  const original = extra?.["message"] as Message | undefined;
  return original ?? textMessage(ROLES[speaker] ?? "assistant", text, name);
}
