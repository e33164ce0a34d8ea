import { context, trace } from "@opentelemetry/api";
import type { Context, Span } from "@opentelemetry/api";
import type { HandoffEnvelope } from "@waybill/protocol";
import { sendSpan, traceparentOf, TRACESTATE_CHARACTERS } from "@waybill/protocol/tracing";
import { contextOf, contextWithin, isTraced, startSpan, tracer } from "./spans.ts";

interface GivenTrace {
  /** The parent's position in its trace. */
  readonly scope?: Context | undefined;
  /** A trace context that the application passes is not changed. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** Starts the span of a handoff that is about to be sent, and puts its context into the handoff. */
export function startSendSpan(
  envelope: HandoffEnvelope,
  { scope, traceparent, tracestate }: GivenTrace,
): { readonly envelope: HandoffEnvelope; readonly span?: Span } {
  const by = tracer();
  if (by === undefined) return { envelope };
  if (traceparent !== undefined || tracestate !== undefined) {
    const given = contextOf(envelope);
    const created = trace.getSpanContext(given);
    const links = created === undefined ? [] : [{ context: created }];
    return { envelope, span: startSpan(by, sendSpan(envelope, false), given, links) };
  }
  const within = scope ?? contextOf(envelope);
  const isPart = trace.getSpanContext(within) !== undefined;
  const parent = isPart ? contextWithin(within) : context.active();
  const span = startSpan(by, sendSpan(envelope, true), parent);
  if (!isTraced(span)) return { envelope, span };
  const place = span.spanContext();
  const states = place.traceState?.serialize() ?? "";
  const isSendable = states !== "" && states.length <= TRACESTATE_CHARACTERS;
  return {
    envelope: {
      ...envelope,
      traceparent: traceparentOf(place),
      tracestate: isSendable ? states : undefined,
    },
    span,
  };
}
