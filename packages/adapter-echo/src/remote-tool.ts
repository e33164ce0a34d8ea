import type { Agent, HandoffUsage } from "@waybill/agent";
import { call, schemaForModel, sessionFor } from "@waybill/agent/adapter";
import type { CallSession } from "@waybill/agent/adapter";
import { describeForModel } from "@waybill/protocol";
import type { Capability, Json } from "@waybill/protocol";
import type { EchoTokens, EchoTool } from "./echo.ts";
import { workOf } from "./from-echo.ts";
import { fileOf, speechLineOf } from "./to-echo.ts";

/** How a capability of another agent becomes a tool of an Echo. */
export interface RemoteToolOptions {
  /** The recipient. By default the hub picks one of the agents with the capability. */
  readonly to?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * The session to hand off in; `true` for that of the Echo. By default each handoff is a conversation
   * of its own.
   */
  readonly session?: CallSession;
}

/** A capability of another agent as a tool of an Echo. */
export function remoteTool(
  agent: Agent,
  capability: Capability,
  { to, timeoutMs, session: shared }: RemoteToolOptions = {},
): EchoTool {
  return {
    name: capability.name,
    description: describeForModel(capability),
    parameters: schemaForModel(capability.input_schema),
    async use(prompt, { session, signal, emit, ask, context }, callId) {
      const { output, messages, artifacts, usage } = await call(agent, {
        step: { run: session, step: callId },
        capability: capability.name,
        to,
        timeoutMs,
        session: sessionFor(shared, session),
        ...workOf(prompt),
        traceparent: context?.["traceparent"],
        signal,
        onProgress: ({ message, data }) => emit(message ?? data),
        // An Echo's interrupt passes through, and the tool is used again once there is an answer.
        onQuestion: async ({ id, text = id }) => ask(id, text) as Json,
      });
      return {
        value: output,
        lines: messages.map((each) => speechLineOf(each, capability.name)),
        files: artifacts.map(fileOf),
        ...(usage === undefined ? {} : { tokens: tokensOf(usage) }),
      };
    },
  };
}

function tokensOf({ total }: HandoffUsage): EchoTokens {
  return { read: total.input_tokens, written: total.output_tokens };
}
