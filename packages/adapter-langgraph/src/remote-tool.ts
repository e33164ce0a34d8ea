import { tool } from "@langchain/core/tools";
import type { StructuredTool } from "@langchain/core/tools";
import { GraphInterrupt } from "@langchain/langgraph";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Agent, HandoffResult, HandoffUsage } from "@waybill/agent";
import {
  failureForModel,
  resultForModel,
  schemaForModel,
  wordsOfResult,
} from "@waybill/agent/adapter";
import { describeForModel, WaybillError } from "@waybill/protocol";
import type { Artifact, Capability, Json, JsonSchema, Message } from "@waybill/protocol";
import { isLeftOpen, remote } from "./remote.ts";
import type { Handoff, RemoteOptions } from "./remote.ts";
import { saverIn } from "./stored.ts";

/** How a capability of another agent becomes a tool of LangChain. */
export interface RemoteToolOptions
  extends Pick<Handoff, "to" | "timeoutMs" | "session">, Pick<RemoteOptions, "isParked"> {}

/**
 * The whole result with its receipt: the artifact of a remote tool's `ToolMessage`, and what
 * `receivedIn` finds in a message of a remote member.
 */
export interface RemoteArtifact {
  readonly output: Json | undefined;
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  readonly by: string;
  readonly attempt: number;
  /** What it has used, if its recipient reports it. */
  readonly usage: HandoffUsage | undefined;
  /** The result as its recipient signed it. */
  readonly receipt: string;
}

/**
 * A capability of another agent as a tool for `createAgent` and everything else that takes LangChain's
 * tools.
 */
export function remoteTool(
  agent: Agent,
  capability: Capability,
  { to, timeoutMs, session, isParked }: RemoteToolOptions = {},
): StructuredTool {
  const { name } = capability;
  const schema = schemaForModel(capability.input_schema);
  const isOfMembers = takesMembers(schema);
  return tool(
    async (given: unknown, runtime: ToolRuntime): Promise<[string, RemoteArtifact]> => {
      const input = (isOfMembers ? given : (given as { input: Json }).input) as Json;
      const part = runtime.toolCallId ?? runtime.toolCall?.id;
      // Otherwise code asks, and no model that could take the text for instructions.
      const isForModel = part !== undefined || runtime.toolCall !== undefined;
      try {
        const handoff = { capability: name, to, timeoutMs, session, input };
        const result = await remote(agent, handoff, runtime, { part, isParked, name });
        const told = isForModel ? resultForModel(result) : wordsOfResult(result);
        return [told, artifactOf(result)];
      } catch (error) {
        if (!WaybillError.is(error)) throw error;
        // As text it would be the tool's answer, and the real one would be lost: the run stops here.
        if (isLeftOpen(error) && saverIn(runtime) !== undefined) throw new GraphInterrupt([]);
        throw isForModel ? toldToModel(error, to ?? name) : error;
      }
    },
    {
      name,
      description: describeForModel(capability),
      schema: isOfMembers
        ? schema
        : { type: "object", properties: { input: schema }, required: ["input"] },
      responseFormat: "content_and_artifact",
    },
  );
}

/** What LangChain passes to a tool: the config of its node, and which call of the model it answers. */
interface ToolRuntime extends LangGraphRunnableConfig {
  readonly toolCallId?: string | undefined;
  readonly toolCall?: { readonly id?: string | undefined } | undefined;
}

/** A model fills in the members of an object; any other input is wrapped in one. */
function takesMembers(schema: JsonSchema): schema is Exclude<JsonSchema, boolean> {
  return typeof schema === "object" && schema["type"] === "object";
}

/** The whole result for code, which no model is shown. */
export function artifactOf(result: HandoffResult): RemoteArtifact {
  const { output, messages, artifacts, by, attempt, usage, envelope: receipt } = result;
  return { output, messages, artifacts, by, attempt, usage, receipt };
}

/** LangChain converts a tool's error to text for a model in several places, and always uses its message. */
function toldToModel(error: WaybillError, by: string): WaybillError {
  const { status, retryable, retryAfterMs } = error;
  const told = failureForModel(by, error);
  return new WaybillError(status, told, { retryable, retryAfterMs, cause: error });
}
