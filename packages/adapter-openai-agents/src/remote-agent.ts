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
 * Another agent as an agent of the SDK: it can be a target of `handoffs`, is run by a `Runner`, and
 * becomes a tool by its `asTool()`.
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
  // The final output of a run is only the text: nobody else has a part in it.
  remote.processFinalOutput = (output) => withoutSpeaker(name, output);
  const asTool = remote.asTool.bind(remote);
  // The model that uses it gets the text as the result of a tool, and it is another agent's text.
  const customOutputExtractor = ({ finalOutput, history }: Ended) => {
    const output = (finalOutput ?? null) as Json;
    const result = { output, messages: [], artifacts: filesBehind(history) };
    return markedAsData(options.to ?? name, resultAsData(result));
  };
  remote.asTool = ((given: object) =>
    asTool({ customOutputExtractor, ...given } as never)) as never;
  return remote;
}

/** A finished run of the SDK, as far as it is read here. */
interface Ended {
  readonly finalOutput?: unknown;
  readonly history: readonly AgentInputItem[];
}

/**
 * A handoff to it, whose arguments are the input of the capability.
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
  // With an `inputType` the SDK would make every optional member required.
  transfer.toolName = transferTo(target.name);
  transfer.inputJsonSchema = parametersOf(capability);
  transfer.strictJsonSchema = false;
  return transfer;
}

function transferTo(name: string): string {
  return toolNameOf(`transfer_to_${name}`);
}

/** The SDK requires all members of an object's JSON Schema. */
export function parametersOf(capability: Capability): OpenObject {
  const schema = argumentsOf(capability) as Partial<OpenObject>;
  return { properties: {}, required: [], ...schema, type: "object", additionalProperties: true };
}

interface OpenObject {
  readonly type: "object";
  // As the SDK declares it.
  // oxlint-disable-next-line typescript/no-explicit-any
  properties: Record<string, any>;
  required: string[];
  additionalProperties: true;
}
