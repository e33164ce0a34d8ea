/// <reference types="node" />
// The same graph in a process with an OpenTelemetry SDK, which reports each span as it ends.
import { SpanKind } from "@opentelemetry/api";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";

function tell(span: ReadableSpan): void {
  const { name, kind, attributes, parentSpanContext } = span;
  const { traceId, spanId } = span.spanContext();
  const parent = parentSpanContext?.spanId ?? null;
  console.log(
    JSON.stringify({ name, kind: SpanKind[kind], attributes, trace: traceId, id: spanId, parent }),
  );
}

new NodeTracerProvider({
  spanProcessors: [
    {
      onStart: () => undefined,
      onEnd: tell,
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  ],
}).register();

await import("./graph-recipient.ts");
