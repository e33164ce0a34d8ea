import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { createAgent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";

// The exporter reads OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS.
const provider = new NodeTracerProvider({
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
});
provider.register();

const hub = await openHub({ store: memoryStore(), id: "hub" });
const anna = createAgent({ id: "anna", hub });
anna.serve<string>("shout", ({ input, addUsage }) => {
  addUsage({ model: "gpt-5", requests: 1, input_tokens: 12, output_tokens: 3 });
  return input.toUpperCase();
});
await anna.start();
const editor = createAgent({ id: "editor", hub });
const { output } = await editor.handoff({ capability: "shout", input: "land ahoy" }).result;
console.log(output);
await Promise.all([anna.stop(), editor.stop()]);
await hub.close();
await provider.shutdown();
