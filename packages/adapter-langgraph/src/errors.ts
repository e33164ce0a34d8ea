import type { ErrorTable } from "@waybill/agent/adapter";

/** LangGraph's and LangChain's own errors. Any other is a 500 with its original message. */
export const ERRORS: ErrorTable = {
  GraphRecursionError: 508,
  ModelCallLimitMiddlewareError: 508,
  ToolCallLimitExceededError: 508,
  NodeTimeoutError: 504,
  GraphDrained: 300,
  EmptyInputError: 422,
  ContextOverflowError: 413,
  StructuredOutputParsingError: 520,
  MultipleStructuredOutputsError: 520,
};

const CAUSES_DEEP = 8;

/** The thrown error in a form that the table recognizes. */
export function failureOfRun(thrown: unknown): unknown {
  return named(firstOf(thrown));
}

/**
 * Errors of nodes that fail in one step are thrown together: the first represents all, with the
 * messages of all.
 */
function firstOf(thrown: unknown): unknown {
  if (!(thrown instanceof AggregateError)) return thrown;
  const errors = thrown.errors.filter((each) => each instanceof Error);
  const message = errors.map((each) => each.message || each.name).join("; ");
  return new Error(message, { cause: errors[0] });
}

/** Some of LangChain's errors share a name and have distinct classes: those are recognized by class. */
function named(thrown: unknown): unknown {
  let each = thrown;
  for (let depth = 0; each instanceof Error && depth < CAUSES_DEEP; depth++, each = each.cause) {
    const { name } = each.constructor;
    if (each.name !== "Error" || !Object.hasOwn(ERRORS, name)) continue;
    const { message } = thrown as Error;
    return Object.assign(new Error(message, { cause: thrown }), { name });
  }
  return thrown;
}
