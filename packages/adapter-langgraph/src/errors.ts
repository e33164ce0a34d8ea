import type { ErrorTable } from "@waybill/agent/adapter";

/** LangGraph's and LangChain's own errors. What is not here is a 500 with its real message. */
export const ERRORS: ErrorTable = {
  GraphRecursionError: 508,
  ModelCallLimitMiddlewareError: 508,
  ToolCallLimitExceededError: 508,
  NodeTimeoutError: 504,
  GraphDrained: 300,
  EmptyInputError: 422,
  StateGraphInputError: 422,
  ContextOverflowError: 413,
  StructuredOutputParsingError: 520,
  MultipleStructuredOutputsError: 520,
};

/** Nodes that fail in one step are thrown together: the first of them stands for all, and has the words of all. */
export function firstOf(thrown: unknown): unknown {
  if (!(thrown instanceof AggregateError)) return thrown;
  const errors = thrown.errors.filter((each) => each instanceof Error);
  const message = errors.map((each) => each.message || each.name).join("; ");
  return new Error(message, { cause: errors[0] });
}
