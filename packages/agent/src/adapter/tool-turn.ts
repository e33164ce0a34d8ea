import type { Json, Message } from "@waybill/protocol";
import { markedAsData } from "./as-data.ts";
import { wordsOf } from "./json-text.ts";
import { messageTextWithMedia } from "./speech.ts";

/** What a tool message has besides the result, if another agent is behind the tool. */
export interface ToolTurn {
  /** The agent whose text this is. */
  readonly by?: string | undefined;
  readonly replies?: readonly Message[] | undefined;
  readonly files?: readonly { name: string; media_type: string; digest: string }[] | undefined;
}

/** What a model is shown of one result in a tool message. */
export function shownToModel(message: Message, output: Json): string {
  const { by, replies = [], files } = message as ToolTurn;
  if (by === undefined && replies.length === 0 && files === undefined) return wordsOf(output);
  const said = replies.map((each) => ({
    from: each.name ?? each.role,
    text: messageTextWithMedia(each),
  }));
  return markedAsData(by, {
    output,
    ...(said.length === 0 ? {} : { said }),
    ...(files === undefined ? {} : { files: files as unknown as Json }),
  });
}
