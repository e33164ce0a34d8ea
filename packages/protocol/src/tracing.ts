export { CONVENTIONS, failureAttributes } from "./tracing/attributes.ts";
export { traceparentOf, tracePlaceOf, TRACESTATE_CHARACTERS } from "./tracing/carrier.ts";
export type { TracePlace } from "./tracing/carrier.ts";
export { custodySpan, invokeAgentSpan, processSpan, sendSpan } from "./tracing/spans.ts";
export type { SpanShape } from "./tracing/spans.ts";
export { TOKEN_USAGE, tokenPoints, usageAttributes } from "./tracing/usage.ts";
export type { TokenPoint } from "./tracing/usage.ts";
