import { createTool } from "@mastra/core/tools";
import type { Tool } from "@mastra/core/tools";
import type { Ask } from "@waybill/agent";
import { QUESTION_TOOL } from "@waybill/agent/adapter";
import type { ToolCallPart } from "@waybill/agent/model-messages";
import { parseJson } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";

/**
 * Lets a served agent ask its delegator. A tool without `execute` ends the run, so that nothing
 * waits in memory. The answer becomes the tool's result when the run continues.
 */
export function questionTool(id: string = QUESTION_TOOL.name): Tool {
  return createTool({
    id,
    description: QUESTION_TOOL.description,
    inputSchema: QUESTION_TOOL.parameters,
  });
}

export function questionOf({
  toolCallId: id,
  toolName,
  input,
}: ToolCallPart): Ask & { id: string } {
  const { question } = input as { question?: Json };
  if (typeof question === "string") return { id, text: question };
  return { id, text: `What is the result of ${toolName}?`, data: input };
}

/** A tool that has suspended Mastra's run, or that requires approval. */
export interface Suspension {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args?: Json | undefined;
  readonly suspendPayload?: Json | undefined;
  /** The JSON Schema of the answer, as text. */
  readonly resumeSchema?: string | undefined;
  readonly isApproval: boolean;
}

export function questionOfSuspension(suspension: Suspension): Ask & { id: string } {
  const { toolCallId: id, toolName, args = null, suspendPayload = null } = suspension;
  if (suspension.isApproval) {
    const text = `May ${toolName} be used with ${JSON.stringify(args)}?`;
    return { id, text, data: { tool: toolName, arguments: args }, schema: { type: "boolean" } };
  }
  const { text, question = text } = Object(suspendPayload) as Record<string, unknown>;
  const schema = suspension.resumeSchema;
  return {
    id,
    text: typeof question === "string" ? question : `${toolName} waits for an answer.`,
    data: suspendPayload,
    ...(schema === undefined ? {} : { schema: parseJson(schema) }),
  };
}

/** The answer in the form that the suspended tool takes. */
export function dataOfAnswer({ isApproval }: Suspension, answer: Json): Json {
  return isApproval ? { approved: answer === true } : answer;
}
