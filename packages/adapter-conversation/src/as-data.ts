import { failureAsData, toolResultPart } from "@waybill/agent/adapter";
import type { ToolTurn } from "@waybill/agent/adapter";
import type { Artifact, Message } from "@waybill/protocol";
import type { ToolReply } from "./tool.ts";

/** A tool's reply as a message of the conversation. */
export function toolMessage(id: string, name: string, reply: ToolReply): Message {
  const { output, messages = [], artifacts = [], by, failure } = reply;
  const told: ToolTurn = {
    ...(by === undefined ? {} : { by }),
    ...(messages.length === 0 ? {} : { replies: messages }),
    ...(artifacts.length === 0 ? {} : { files: artifacts.map(fileOf) }),
  };
  const said = failure === undefined ? (output ?? null) : failureAsData(failure);
  return { role: "tool", name, content: [toolResultPart({ id, output: said })], ...told };
}

function fileOf({ name, media_type, digest }: Artifact) {
  return { name, media_type, digest };
}
