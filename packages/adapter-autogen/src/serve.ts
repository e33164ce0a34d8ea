import { inputOf, offerOf } from "@waybill/agent/adapter";
import type { Offer, Run } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { CapabilityInput, Json } from "@waybill/protocol";
import type { AutogenHost } from "./host.ts";
import { isObject } from "./message.ts";

/** Which agent of AutoGen is served, and as which capability. */
export interface ServeAgentOptions {
  readonly agentType: string;
  /** What the agent handles: the name of the message's class in Python. */
  readonly messageType: string;
  /** Which instance of the agent does it. Left out: one for each handoff. */
  readonly key?: ((run: Run) => string) | undefined;
  readonly capability: CapabilityInput;
}

/**
 * An AutoGen agent as a capability.
 *
 * @example
 * ```ts
 * const capability = { name: "file", input_schema: { text: "string" } };
 * agent.serve(...serveAgent(host, { agentType: "clerk", messageType: "Ask", capability }));
 * ```
 */
export function serveAgent(
  host: AutogenHost,
  { agentType, messageType, key = ({ handoffId }) => handoffId, capability }: ServeAgentOptions,
): Offer {
  return offerOf({
    capability,
    async run(run) {
      const { work, handoffId, attempt, signal, traceparent, tracestate } = run;
      const members = inputOf(work, run.capability.input_schema);
      assertHasMembers(members, messageType);
      const { value } = await host.ask({
        target: { type: agentType, key: key(run) },
        message: { type: messageType, value: members },
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

/** A worker that can't make a message of what it gets says nothing at all. */
function assertHasMembers(value: Json, messageType: string): void {
  if (isObject(value)) return;
  throw new WaybillError(
    422,
    `${messageType} is a message with members, so its input is an object: name them in input_schema, and words become the one text that it asks for.`,
  );
}
