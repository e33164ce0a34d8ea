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
