import {
  context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { Context, Link, Span, Tracer, TracerProvider } from "@opentelemetry/api";
import { isFailure, statusOf } from "@waybill/protocol";
import type { HandoffEnvelope, StatusCode } from "@waybill/protocol";
import { CONVENTIONS, failureAttributes, tracePlaceOf } from "@waybill/protocol/tracing";
import type { SpanShape } from "@waybill/protocol/tracing";

/** OpenTelemetry's stand-in provider returns no tracer until the application has registered one. */
interface Delegating {
  getDelegateTracer(...about: Parameters<TracerProvider["getTracer"]>): Tracer | undefined;
}

/**
 * Undefined if the application has no tracing SDK, so that nothing is created for it. Looked up each
 * time, because an application may register its provider late, through an API of its own.
 */
export function tracer(): Tracer | undefined {
  const { schemaUrl } = CONVENTIONS;
  const provider: TracerProvider & Partial<Delegating> = trace.getTracerProvider();
  return provider.getDelegateTracer === undefined
    ? provider.getTracer("@waybill/agent", undefined, { schemaUrl })
    : provider.getDelegateTracer("@waybill/agent", undefined, { schemaUrl });
}

export function startSpan(
  by: Tracer,
  { name, kind, attributes }: SpanShape,
  parent: Context,
  links: Link[] = [],
): Span {
  return by.startSpan(name, { kind: SpanKind[kind], attributes, links }, parent);
}

/** The trace context of an envelope; an envelope without one starts a new trace. */
export function contextOf(envelope: Pick<HandoffEnvelope, "traceparent" | "tracestate">): Context {
  const place = tracePlaceOf(envelope);
  if (place === undefined) return ROOT_CONTEXT;
  const { tracestate } = envelope;
  const traceState = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return trace.setSpanContext(ROOT_CONTEXT, { ...place, ...traceState, isRemote: true });
}

/** The parent span of a child handoff: the active span, unless it belongs to another job. */
export function contextWithin(scope: Context): Context {
  const active = context.active();
  const own = trace.getSpanContext(scope);
  return trace.getSpanContext(active)?.traceId === own?.traceId ? active : scope;
}

/** Ends a span with the outcome of its work: only the status, never any content. */
export function endSpan(span: Span, status: StatusCode): void {
  if (isFailure(status)) {
    span.setAttributes(failureAttributes(status));
    span.setStatus({ code: SpanStatusCode.ERROR, message: statusOf(status).name });
  }
  span.end();
}

export function isTraced(span: Span): boolean {
  return isSpanContextValid(span.spanContext());
}
