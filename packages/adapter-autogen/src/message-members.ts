import type { Artifact, Json, Message } from "@waybill/protocol";
import { filesIn, filesOf } from "./file-member.ts";
import { llmMessagesOf, messagesIn } from "./llm-message.ts";
import type { Unshown } from "./llm-message.ts";
import { isObject } from "./message.ts";

/** Which members of its messages stand for what goes along with an input or an output, by their names in Python. */
export interface MessageMembers {
  /** The conversation, as `list[LLMMessage]`: what is asked for is its last turn, and an answer has what it adds. */
  readonly conversation?: string | undefined;
  /** The same history, or the messages of a result, as it was sent: for code alone, because it may pose as anybody. */
  readonly received?: string | undefined;
  /** Files, as a list of what has a `name`, a `media_type` and its bytes in base64 as `data`. */
  readonly files?: string | undefined;
  /** What models have used, as `RequestUsage`. Only answers have it. */
  readonly usage?: string | undefined;
}

/** A message's members, by what they stand for. */
export interface Sorted {
  readonly messages: Message[] | undefined;
  readonly artifacts: Artifact[];
  readonly usage: { readonly input_tokens: Json; readonly output_tokens: Json } | undefined;
  /** All the others; undefined where the message has a conversation and no others. */
  readonly others: Json | undefined;
}

/** Sorts what a worker has sent. */
export function sorted(value: Json, members: MessageMembers): Sorted {
  if (!isObject(value))
    return { messages: undefined, artifacts: [], usage: undefined, others: value };
  const known = Object.values(members);
  const others = Object.entries(value).filter(([name]) => !known.includes(name));
  const memberOf = (name: string | undefined) =>
    name === undefined ? null : (value[name] ?? null);
  const said = memberOf(members.conversation);
  const used = memberOf(members.usage);
  return {
    messages: said === null ? undefined : messagesIn(said),
    artifacts: filesIn(memberOf(members.files)),
    usage: isObject(used)
      ? { input_tokens: used["prompt_tokens"]!, output_tokens: used["completion_tokens"]! }
      : undefined,
    others: said !== null && others.length === 0 ? undefined : Object.fromEntries(others),
  };
}

/** What goes along with a message's own members. */
export interface Along {
  readonly messages: readonly Message[];
  readonly received?: readonly Message[] | undefined;
  readonly artifacts: readonly Artifact[];
  readonly usage?: { readonly input_tokens?: number; readonly output_tokens?: number } | undefined;
}

/** The members for what goes along. */
export function membersFor(
  { messages, received = [], artifacts, usage }: Along,
  { conversation, received: whole, files, usage: used }: MessageMembers,
  unshown: Unshown,
): { [member: string]: Json } {
  return {
    ...(conversation === undefined ? {} : { [conversation]: llmMessagesOf(messages, unshown) }),
    ...(whole === undefined ? {} : { [whole]: received as unknown as Json }),
    ...(files === undefined ? {} : { [files]: filesOf(artifacts) }),
    ...(used === undefined || usage === undefined
      ? {}
      : {
          [used]: {
            prompt_tokens: usage.input_tokens ?? 0,
            completion_tokens: usage.output_tokens ?? 0,
          },
        }),
  };
}
