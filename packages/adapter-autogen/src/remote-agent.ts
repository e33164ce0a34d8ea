import type { Agent, HandoffResult, ProgressEvent, QuestionEvent } from "@waybill/agent";
import {
  call,
  conversationHere,
  mediaIn,
  mediaInWords,
  refuseQuestion,
  repliesOf,
  sessionFor,
} from "@waybill/agent/adapter";
import type { CallSession, PortableWork, Step } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { replyOf } from "./message.ts";
import type { AutogenMessage } from "./message.ts";
import { membersFor, sorted } from "./message-members.ts";
import type { MessageMembers } from "./message-members.ts";
import type { AgentId } from "./wire.ts";

/** A message of an AutoGen agent to another one. */
export interface Sent {
  readonly message: AutogenMessage;
  readonly target: AgentId;
  readonly sender: AgentId | undefined;
  readonly step: Step;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Answers the messages to an agent type. */
export type RemoteAgent = (sent: Sent) => Promise<AutogenMessage>;

/** The capability behind an agent of AutoGen, and the form of its answers. */
export interface RemoteAgentOptions {
  readonly capability: string;
  /** The type of its answers: the name of a class that the requesting worker knows. */
  readonly reply: string;
  /**
   * The members of the message's class, and of the answer's, for a conversation, files and usage.
   */
  readonly members?: MessageMembers | undefined;
  /** The recipient. By default the hub picks one of the agents with the capability. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in; `true` for the session of the handoff that the requesting agent
   * works on, or else for the key of the addressed instance. By default each handoff is a
   * conversation of its own.
   */
  readonly session?: CallSession;
  /** Called with progress, and with text while it is written. */
  readonly onProgress?: ((event: ProgressEvent, sent: Sent) => void | Promise<void>) | undefined;
  /** Answers the remote agent's questions. By default, a question is refused. */
  readonly onQuestion?: ((question: QuestionEvent, sent: Sent) => Promise<Json>) | undefined;
  /**
   * Called with the complete result. By default, a result with files or images for which the answer
   * has no members is refused.
   */
  readonly onResult?: ((result: HandoffResult) => void) | undefined;
}

/**
 * A capability of another agent as an agent to which AutoGen agents send messages.
 *
 * @example
 * ```ts
 * const translator = remoteAgent(agent, { capability: "translate", reply: "Answer" });
 * const host = await openAutogenHost({ agents: { translator } });
 * ```
 */
export function remoteAgent(agent: Agent, options: RemoteAgentOptions): RemoteAgent {
  const { capability, reply, members = {}, to, timeoutMs, session, onResult } = options;
  const { onProgress, onQuestion = refuseQuestion } = options;
  return async (sent) => {
    const { message, target, sender, ...along } = sent;
    const result = await call(agent, {
      ...along,
      ...workIn(message.value, members),
      capability,
      to,
      timeoutMs,
      session: sessionFor(session, conversationHere(target.key)),
      metadata: {
        autogen: {
          message_type: message.type,
          key: target.key,
          ...(sender === undefined ? {} : { sender: `${sender.type}/${sender.key}` }),
        },
      },
      onProgress: onProgress && ((event) => onProgress(event, sent)),
      onQuestion: (question) => onQuestion(question, sent),
    });
    if (onResult === undefined) assertNothingLost(result, members);
    else onResult(result);
    return { type: reply, value: answerOf(result, target.type, members) };
  };
}

function workIn(value: Json, members: MessageMembers): PortableWork {
  const { messages, artifacts, others } = sorted(value, members);
  return {
    ...(others === undefined ? {} : { input: others }),
    ...(messages === undefined ? {} : { messages }),
    ...(artifacts.length === 0 ? {} : { artifacts }),
  };
}

/**
 * The result as the members of the answer's class. Its messages become text of the addressed agent.
 */
function answerOf(result: HandoffResult, name: string, members: MessageMembers): Json {
  const { messages: received, artifacts, usage } = result;
  const messages = repliesOf(result, name);
  const all = { messages, received, artifacts, usage: usage?.total };
  const along = membersFor(all, members, mediaInWords);
  return { ...(members.conversation === undefined ? replyOf(result) : {}), ...along };
}

/** An answer of AutoGen's core has only the members of its class: other parts would be lost. */
function assertNothingLost(
  { by, messages, artifacts }: HandoffResult,
  { conversation, files }: MessageMembers,
): void {
  const [file] = files === undefined ? artifacts : [];
  const [media] = conversation === undefined ? messages.flatMap(mediaIn) : [];
  const lost = file?.name ?? (media && `${media.type} ${media.name ?? media.media_type}`);
  if (lost === undefined) return;
  throw new WaybillError(
    422,
    `The result of ${by} has ${file === undefined ? "the" : "the file"} ${lost}, and the answer's class has no member for it: take it by onResult, or name the member in the option members.`,
  );
}
