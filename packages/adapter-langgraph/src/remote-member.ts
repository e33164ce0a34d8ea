import { Runnable } from "@langchain/core/runnables";
import type { BaseMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Agent, HandoffResult } from "@waybill/agent";
import {
  mediaIn,
  mediaInWords,
  mediaOf,
  mediaPart,
  repliesOf,
  saidSince,
} from "@waybill/agent/adapter";
import { parseEnvelope, readCompact } from "@waybill/protocol";
import type { ContentPart, Message } from "@waybill/protocol";
import { toLangChain } from "./message-in.ts";
import { fromLangChain } from "./message-out.ts";
import { artifactOf } from "./remote-tool.ts";
import { remote } from "./remote.ts";
import type { Handoff, RemoteOptions } from "./remote.ts";
import { filesOf, namingFiles, RECEIVED } from "./result-files.ts";
import { tokensId } from "./tokens.ts";
import { withUsage } from "./usage.ts";

/** How another agent takes part in a team of LangGraph. */
export interface RemoteMemberOptions
  extends
    Pick<Handoff, "capability" | "to" | "timeoutMs" | "session" | "tags" | "minReliability">,
    Pick<RemoteOptions, "isParked"> {
  /** What the others call it. */
  readonly name: string;
  /** The description for a supervisor's model. */
  readonly description?: string | undefined;
}

interface Talk {
  readonly messages: readonly BaseMessage[];
  readonly artifacts?: unknown;
}

/**
 * Another agent as a member of a supervisor or a swarm, or as a node of any graph that keeps messages.
 * It gets the whole conversation, with the files of the state and of other remote agents' results. Its
 * result is added as its own speech, under its name here, with the names of its files; `receivedIn`
 * returns the received result of the last message. It is sent here, in the destination of a handoff
 * tool, and never inside the tool.
 */
export class RemoteMember extends Runnable<Talk, { messages: BaseMessage[] }> {
  override lc_namespace: string[] = ["waybill", "member"];
  readonly description: string | undefined;
  override name: string;
  readonly #agent: Agent;
  readonly #options: RemoteMemberOptions;

  constructor(agent: Agent, options: RemoteMemberOptions) {
    super();
    this.name = options.name;
    this.description = options.description;
    this.#agent = agent;
    this.#options = options;
  }

  override async invoke(
    { messages, artifacts: inState }: Talk,
    config: LangGraphRunnableConfig = {},
  ): Promise<{ messages: BaseMessage[] }> {
    const { name, description: _, isParked, ...handoff } = this.#options;
    const said = saidSince(handoff.session, messages.map(fromLangChain), name);
    const files = filesOf(messages.slice(messages.length - said.length), inState);
    const artifacts = files.length === 0 ? {} : { artifacts: files };
    const work = { ...handoff, messages: said, ...artifacts };
    const result = await remote(this.#agent, work, config, { isParked, name });
    const replies = namingFiles(repliesOf(result, name), result.artifacts, name);
    const spoken = shownFirst(replies).flatMap((each) => toLangChain(each));
    const last = spoken.at(-1);
    if (last !== undefined) {
      last.response_metadata[RECEIVED] = artifactOf(result);
      last.id = messageId(result);
    }
    return { messages: withUsage(spoken, result.usage) };
  }
}

/**
 * Models accept images, recordings and files from users only, so the member's media are a turn of
 * their own under its name. It precedes the text, because a supervisor may keep only the last turn.
 */
function shownFirst(replies: readonly Message[]): Message[] {
  return replies.flatMap((reply) => {
    const media = mediaIn(reply);
    if (media.length === 0) return [reply];
    const words = reply.content.filter((part) => mediaOf(part) === undefined);
    const names: ContentPart[] = media.map((each) => ({ type: "text", text: mediaInWords(each) }));
    const shown: Message = { role: "user", name: reply.name, content: media.map(mediaPart) };
    return [shown, { ...reply, content: [...words, ...names] }];
  });
}

/** What is shown while the member writes is this message, so it is not shown a second time. */
function messageId({ envelope, attempt }: HandoffResult): string {
  const { handoff_id: handoffId } = parseEnvelope(readCompact(envelope).payload);
  return tokensId(handoffId, attempt);
}

/** Another agent as a member of a supervisor's or a swarm's team. */
export function remoteMember(agent: Agent, options: RemoteMemberOptions): RemoteMember {
  return new RemoteMember(agent, options);
}
