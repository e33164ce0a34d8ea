import {
  failureAsData,
  markedAsData,
  textOf,
  toolResultPart,
  wordsOf,
} from "@waybill/agent/adapter";
import type { Artifact, Json, Message } from "@waybill/protocol";
import type { ToolReply } from "./tool.ts";

/** Members of a tool's message that are more than its result, for those who know them. */
interface Told {
  /** The agent whose words these are. */
  readonly by?: string | undefined;
  readonly replies?: readonly Message[] | undefined;
  readonly files?: readonly { name: string; media_type: string; digest: string }[] | undefined;
}

/** The reply of a tool as a turn of the conversation. */
export function toolMessage(id: string, name: string, reply: ToolReply): Message {
  const { output, messages = [], artifacts = [], by, failure } = reply;
  const told: Told = {
    ...(by === undefined ? {} : { by }),
    ...(messages.length === 0 ? {} : { replies: messages }),
    ...(artifacts.length === 0 ? {} : { files: artifacts.map(fileOf) }),
  };
  const said = failure === undefined ? (output ?? null) : failureAsData(failure);
  return { role: "tool", name, content: [toolResultPart({ id, output: said })], ...told };
}

/** What a model is shown of one result in a tool's message. */
export function shownToModel(message: Message, output: Json): string {
  const { by, replies = [], files } = message as Told;
  if (by === undefined && replies.length === 0 && files === undefined) return wordsOf(output);
  const said = replies.map((each) => ({ from: each.name ?? each.role, text: textOf(each) }));
  return markedAsData(by, {
    output,
    ...(said.length === 0 ? {} : { said }),
    ...(files === undefined ? {} : { files: files as unknown as Json }),
  });
}

function fileOf({ name, media_type, digest }: Artifact) {
  return { name, media_type, digest };
}
