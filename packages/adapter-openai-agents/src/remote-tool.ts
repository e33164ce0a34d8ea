import { tool } from "@openai/agents";
import type { Tool } from "@openai/agents";
import {
  failureForModel,
  failureToTell,
  remoteToolCard,
  resultForModel,
  workFrom,
} from "@waybill/agent/adapter";
import type { OnFailure } from "@waybill/agent/adapter";
import type { Agent } from "@waybill/agent";
import type { Capability, Json } from "@waybill/protocol";
import { currentServedRun } from "./served-run.ts";
import { handedOff } from "./remote.ts";
import type { RemoteOptions } from "./remote.ts";
import { parametersOf } from "./remote-agent.ts";
import { sdkUsage } from "./usage.ts";

/** Options for a capability of another agent as a tool of the SDK. */
export interface RemoteToolOptions extends RemoteOptions {
  /**
   * Whether the model is told of a failure as data, which is the default, or the run fails with it.
   */
  readonly onFailure?: OnFailure | undefined;
}

/**
 * A capability of another agent as a tool of the SDK.
 *
 * @example
 * ```ts
 * const [found] = (await hub.find({ capability: "web_research" })).fits;
 * const editor = new Agent({ name: "editor", tools: [remoteTool(agent, found.capability)] });
 * ```
 */
export function remoteTool(
  agent: Agent,
  capability: Capability,
  options: RemoteToolOptions = {},
): Tool {
  const { onFailure = "tell" } = options;
  const remote = { agent, capability, options };
  const { by, ...card } = remoteToolCard(capability, options);
  return tool({
    ...card,
    parameters: parametersOf(capability),
    strict: false,
    errorFunction: null,
    async execute(given, context, details) {
      const signal = details?.signal;
      try {
        const work = workFrom(given as Json, capability, []);
        const result = await handedOff(remote, details!.toolCall!.callId, work, signal, (event) =>
          currentServedRun()?.progress({ message: event.message, data: event.data }),
        );
        context?.usage.add(sdkUsage(result.usage));
        return resultForModel(result);
      } catch (thrown) {
        const failure = failureToTell(thrown, onFailure, signal);
        if (failure === undefined) throw thrown;
        return failureForModel(by, failure);
      }
    },
  }) as Tool;
}
