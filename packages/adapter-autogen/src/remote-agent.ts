import type { Agent } from "@waybill/agent";
import { call, refuseQuestion } from "@waybill/agent/adapter";
import type { Step } from "@waybill/agent/adapter";
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
  { capability, reply, to, timeoutMs }: RemoteAgentOptions,
): RemoteAgent {
  return async ({ message, target, sender, ...sent }) => {
    const result = await call(agent, {
      ...sent,
      capability,
      to,
      timeoutMs,
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
    return { type: reply, value: replyOf(result) };
  };
}
