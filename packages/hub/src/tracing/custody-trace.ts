import {
  context,
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { Context, Tracer, TracerProvider } from "@opentelemetry/api";
import { statusOf, WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import {
  CONVENTIONS,
  custodySpan,
  failureAttributes,
  tracePlaceOf,
} from "@waybill/protocol/tracing";

/** Takes a handoff into custody within its trace. */
export async function inCustodySpan(
  hub: string,
  handoff: HandoffEnvelope,
  submit: () => Promise<string>,
): Promise<string> {
  const by = tracer();
  if (by === undefined) return submit();
  const { name, kind, attributes } = custodySpan(handoff, hub);
  const sent = sentFrom(handoff);
  const span = by.startSpan(name, { kind: SpanKind[kind], attributes }, sent);
  try {
    return await context.with(trace.setSpan(sent, span), submit);
  } catch (error) {
    const { status } = WaybillError.from(error);
    span.setAttributes(failureAttributes(status));
    span.setStatus({ code: SpanStatusCode.ERROR, message: statusOf(status).name });
    throw error;
  } finally {
    span.end();
  }
}

/** OpenTelemetry's stand-in provider returns no tracer until the application has registered one. */
interface Delegating {
  getDelegateTracer(...about: Parameters<TracerProvider["getTracer"]>): Tracer | undefined;
}

/** Undefined without a tracing SDK; looked up each time, because one may be registered late. */
function tracer(): Tracer | undefined {
  const { schemaUrl } = CONVENTIONS;
  const provider: TracerProvider & Partial<Delegating> = trace.getTracerProvider();
  return provider.getDelegateTracer === undefined
    ? provider.getTracer("@waybill/hub", undefined, { schemaUrl })
    : provider.getDelegateTracer("@waybill/hub", undefined, { schemaUrl });
}

function sentFrom(handoff: HandoffEnvelope): Context {
  const place = tracePlaceOf(handoff);
  if (place === undefined) return ROOT_CONTEXT;
  const { tracestate } = handoff;
  const traceState = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return trace.setSpanContext(ROOT_CONTEXT, { ...place, ...traceState, isRemote: true });
}
