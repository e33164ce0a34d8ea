import { inputOf, offerOf } from "@waybill/agent/adapter";
import type { Offer, Run } from "@waybill/agent/adapter";
import type { CapabilityInput } from "@waybill/protocol";
import type { AutogenHost } from "./host.ts";

export interface ServeAgentOptions {
  readonly agentType: string;
  /** What the agent handles: the name of the message's class in Python. */
  readonly messageType: string;
  /** Which instance of the agent does it. Left out: one for each handoff. */
  readonly key?: ((run: Run) => string) | undefined;
  readonly capability: CapabilityInput;
}

/** An AutoGen agent as a capability: `agent.serve(...serveAgent(host, { agentType: "clerk", … }))`. */
export function serveAgent(
  host: AutogenHost,
  { agentType, messageType, key = ({ handoffId }) => handoffId, capability }: ServeAgentOptions,
): Offer {
  return offerOf({
    capability,
    async run(run) {
      const { work, handoffId, attempt, signal, traceparent, tracestate } = run;
      const { value } = await host.ask({
        target: { type: agentType, key: key(run) },
        message: { type: messageType, value: inputOf(work, run.capability.input_schema) },
        run: handoffId,
        requestId: `${handoffId}:${attempt}`,
        signal,
        traceparent,
        tracestate,
      });
      return { output: value };
    },
  });
}
