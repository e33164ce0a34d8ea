import { dynamicTool, jsonSchema } from "ai";
import type { Tool } from "ai";
import type { Ask } from "@waybill/agent";
import { APPROVAL, approvalIn, QUESTION_TOOL } from "@waybill/agent/adapter";
import { openCallsOf, toolResult } from "@waybill/agent/model-messages";
import type { ModelMessage, ToolCallPart } from "@waybill/agent/model-messages";
import type { Json } from "@waybill/protocol";

/**
 * Lets a served agent ask its delegator. A tool without `execute` ends the run, so that nothing waits
 * in memory. The answer becomes the tool's result when the run continues.
 *
 * @example
 * ```ts
 * const editor = new ToolLoopAgent({ model, tools: { ask_delegator: questionTool() } });
 * ```
 */
export function questionTool(): Tool {
  return dynamicTool({
    description: QUESTION_TOOL.description,
    inputSchema: jsonSchema(QUESTION_TOOL.parameters),
  });
}

/** A request for approval of a tool call, in a message of the assistant. */
interface ApprovalRequest {
  readonly type: "tool-approval-request";
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly reason?: string | undefined;
  /** The application has approved or denied the call itself. */
  readonly isAutomatic?: boolean | undefined;
}

/** What a generation waits for: a call without a result, with the request if it needs approval. */
interface Waiting {
  readonly call: ToolCallPart;
  readonly request: ApprovalRequest | undefined;
}

/** The questions that a generation waits for, with the ids of the calls. */
export function questionsIn(messages: readonly ModelMessage[]): (Ask & { id: string })[] {
  return waitingIn(messages).map(({ call, request }) => {
    const { toolCallId: id, toolName, input } = call;
    if (request === undefined) return questionOf(call);
    const text = `May ${toolName} be used with ${JSON.stringify(input)}?`;
    const why = request.reason === undefined ? "" : ` ${request.reason}`;
    return { id, text: text + why, data: { tool: toolName, arguments: input }, schema: APPROVAL };
  });
}

function questionOf({ toolCallId: id, toolName, input }: ToolCallPart): Ask & { id: string } {
  const { question } = Object(input) as { question?: Json };
  if (typeof question === "string") return { id, text: question };
  return { id, text: `What is the result of ${toolName}?`, data: input };
}

/** The answers, as the message with which the generation goes on. */
export function answeredBy(
  messages: readonly ModelMessage[],
  answers: ReadonlyMap<string, Json>,
): ModelMessage {
  const content = waitingIn(messages).map(({ call, request }) => {
    const answer = answers.get(call.toolCallId) ?? null;
    if (request === undefined) return toolResult(call.toolCallId, call.toolName, answer);
    const { approved, reason } = approvalIn(answer);
    const { approvalId } = request;
    const told = approved ? {} : { reason };
    return { type: "tool-approval-response" as const, approvalId, approved, ...told };
  });
  return { role: "tool", content: content as ModelMessage["content"] & readonly object[] };
}

function waitingIn(messages: readonly ModelMessage[]): Waiting[] {
  const requests = new Map(
    messages
      .flatMap(({ content }) => (typeof content === "string" ? [] : [...content]))
      .filter((part): part is never => (part.type as string) === "tool-approval-request")
      .map((part: ApprovalRequest) => [part.toolCallId, part]),
  );
  return openCallsOf(messages).map((call) => ({ call, request: requests.get(call.toolCallId) }));
}
