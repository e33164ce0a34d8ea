import type { Agent, HandoffResult } from "@waybill/agent";
import {
  call,
  conversationHere,
  mediaIn,
  refuseQuestion,
  sessionFor,
} from "@waybill/agent/adapter";
import type { CallSession, Step } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import { replyOf } from "./message.ts";
import type { AutogenMessage } from "./message.ts";
import type { AgentId } from "./wire.ts";

/** What an AutoGen agent has sent to another one. */
export interface Sent {
  readonly message: AutogenMessage;
  readonly target: AgentId;
  readonly sender: AgentId | undefined;
  readonly step: Step;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Answers what is sent to an agent type. */
export type RemoteAgent = (sent: Sent) => Promise<AutogenMessage>;

/** Which capability stands behind an agent of AutoGen, and what it answers with. */
export interface RemoteAgentOptions {
  readonly capability: string;
  /** The type of the messages it answers with: the name of a class that the asking worker knows. */
  readonly reply: string;
  /** The agent it goes to. Left out: the hub picks among those who have the capability. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in; `true` for that of the handoff that the asking agent works on, or else the
   * key of the instance that is sent to. Left out, each handoff is a conversation of its own.
   */
  readonly session?: CallSession;
  /** Has the result whole. Left out, a result with files or images is refused, because an answer can't hold them. */
  readonly onResult?: ((result: HandoffResult) => void) | undefined;
}

/**
 * What another agent can do, as an agent that AutoGen agents send messages to.
 *
 * @example
 * ```ts
 * const translator = remoteAgent(agent, { capability: "translate", reply: "Answer" });
 * const host = await openAutogenHost({ agents: { translator } });
 * ```
 */
export function remoteAgent(
  agent: Agent,
  { capability, reply, to, timeoutMs, session, onResult }: RemoteAgentOptions,
): RemoteAgent {
  return async ({ message, target, sender, ...sent }) => {
    const result = await call(agent, {
      ...sent,
      capability,
      to,
      timeoutMs,
      session: sessionFor(session, conversationHere(target.key)),
      input: message.value,
      metadata: {
        autogen: {
          message_type: message.type,
          key: target.key,
          ...(sender === undefined ? {} : { sender: `${sender.type}/${sender.key}` }),
        },
      },
      onQuestion: refuseQuestion,
    });
    if (onResult === undefined) assertNothingLost(result);
    else onResult(result);
    return { type: reply, value: replyOf(result) };
  };
}

/** An answer of AutoGen's core is the members of its class: nothing goes along with it. */
function assertNothingLost({ by, messages, artifacts }: HandoffResult): void {
  const [file] = artifacts;
  const [media] = messages.flatMap(mediaIn);
  const lost = file?.name ?? (media && `${media.type} ${media.name ?? media.media_type}`);
  if (lost === undefined) return;
  throw new WaybillError(
    422,
    `The result of ${by} has ${file === undefined ? "the" : "the file"} ${lost}, and an answer of AutoGen's core has no place for it: take it by onResult.`,
  );
}
