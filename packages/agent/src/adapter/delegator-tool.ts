import type { Json } from "@waybill/protocol";

/** The name, description and arguments of a tool. */
interface QuestionTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: {
    type: "object";
    properties: { question: { type: "string" } };
    required: string[];
    additionalProperties: false;
  };
}

/** A tool with which a model asks the delegator of its work. */
export const QUESTION_TOOL: QuestionTool = {
  name: "ask_delegator",
  description:
    "Asks whoever gave you this work, and gives their answer. Use it only for what you can't find out or decide yourself.",
  parameters: {
    type: "object",
    properties: { question: { type: "string" } },
    required: ["question"],
    additionalProperties: false,
  },
};

/** The schema of the answer to a request for approval. */
export const APPROVAL: Json = {
  type: ["boolean", "object"],
  properties: { approve: { type: "boolean" }, reason: { type: "string" } },
  required: ["approve"],
};

/** Reads the answer to a request for approval. Only a clear yes approves. */
export function approvalIn(answer: Json): { readonly approved: boolean; readonly reason: string } {
  const { approve, reason } = (
    typeof answer === "object" && answer !== null ? answer : { approve: answer, reason: answer }
  ) as { approve?: Json; reason?: Json };
  const isTold = typeof reason === "string";
  return {
    approved: approve === true,
    reason: isTold ? `Not approved: ${reason}` : "Not approved.",
  };
}
