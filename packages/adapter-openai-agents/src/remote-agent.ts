import { Agent as SdkAgent, handoff } from "@openai/agents";
import type { AgentInputItem, Handoff } from "@openai/agents";
import { argumentsOf, markedAsData, resultAsData, toolNameOf } from "@waybill/agent/adapter";
import type { Agent } from "@waybill/agent";
import { describeForModel } from "@waybill/protocol";
import type { Capability, Json } from "@waybill/protocol";
import { filesBehind } from "./originals.ts";
import { RemoteModel } from "./remote-model.ts";
import type { RemoteOptions } from "./remote.ts";
import { withoutSpeaker } from "./speaker.ts";

/**
 * Another agent as an agent of the SDK: stands in `handoffs`, is run by a `Runner`, and is a tool by
 * its `asTool()`.
 *
 * @example
 * ```ts
 * const [found] = (await hub.find({ capability: "refund" })).fits;
 * const refund = remoteAgent(agent, found.capability);
 * const triage = new Agent({ name: "triage", handoffs: [refund] });
 * ```
 */
export function remoteAgent(
  agent: Agent,
  capability: Capability,
  options: RemoteOptions = {},
): SdkAgent {
  const name = options.name ?? toolNameOf(capability.name);
  const remote = new SdkAgent({
    name,
    handoffDescription: describeForModel(capability),
    model: new RemoteModel({ agent, capability, options }, name, transferTo(name)),
  });
  // The final output of a run is the words alone: nobody else's can be beside them there.
  remote.processFinalOutput = (output) => withoutSpeaker(name, output);
  const asTool = remote.asTool.bind(remote);
  // The model that uses it is told its words as the answer of a tool, and these are another agent's.
  const customOutputExtractor = ({ finalOutput, history }: Ended) => {
    const output = (finalOutput ?? null) as Json;
    const result = { output, messages: [], artifacts: filesBehind(history) };
    return markedAsData(options.to ?? name, resultAsData(result));
  };
  remote.asTool = ((given: object) =>
    asTool({ customOutputExtractor, ...given } as never)) as never;
  return remote;
}

/** A run of the SDK that is over, as far as it is looked at here. */
interface Ended {
  readonly finalOutput?: unknown;
  readonly history: readonly AgentInputItem[];
}

/**
 * A handoff to it, with what the capability takes as arguments for the model to give.
 *
 * @example
 * ```ts
 * const [found] = (await hub.find({ capability: "refund" })).fits;
 * const refund = remoteHandoff(agent, found.capability);
 * const triage = new Agent({ name: "triage", handoffs: [refund] });
 * ```
 */
export function remoteHandoff(
  agent: Agent,
  capability: Capability,
  options: RemoteOptions = {},
): Handoff<unknown, "text"> {
  const target = remoteAgent(agent, capability, options);
  const transfer = handoff(target);
  // By an `inputType` the SDK would make every optional member a required one.
  transfer.toolName = transferTo(target.name);
  transfer.inputJsonSchema = parametersOf(capability);
  transfer.strictJsonSchema = false;
  return transfer;
}

function transferTo(name: string): string {
  return toolNameOf(`transfer_to_${name}`);
}

/** The SDK wants every member of a JSON Schema's object named. */
export function parametersOf(capability: Capability): OpenObject {
  const schema = argumentsOf(capability) as Partial<OpenObject>;
  return { properties: {}, required: [], ...schema, type: "object", additionalProperties: true };
}

interface OpenObject {
  readonly type: "object";
  // As the SDK has them.
  // oxlint-disable-next-line typescript/no-explicit-any
  properties: Record<string, any>;
  required: string[];
  additionalProperties: true;
}
