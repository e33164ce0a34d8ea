import { metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import type { Histogram } from "@opentelemetry/sdk-metrics";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { afterAll, expect, test } from "vitest";
import { settled, World } from "../world-fixture.ts";

const spans = new InMemorySpanExporter();
const tracing = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
tracing.register();
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
const provider = new MeterProvider({ readers: [reader] });
metrics.setGlobalMeterProvider(provider);

afterAll(() => Promise.all([provider.shutdown(), tracing.shutdown()]));

test("tokens are on the span of the attempt that used them, and in the histogram of the conventions", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("leaf", ({ addUsage }) => {
    addUsage({ model: "small", input_tokens: 7, output_tokens: 1 });
    throw new Error("it broke");
  });
  worker.serve("top", async ({ addUsage, handoff }) => {
    addUsage({
      model: "large",
      input_tokens: 300,
      cached_input_tokens: 200,
      output_tokens: 40,
      reasoning_tokens: 30,
    });
    await handoff({ to: "worker", capability: "leaf" }).result.catch(() => undefined);
    return "done";
  });
  worker.serve("silent", () => "done");
  await worker.start();
  const owner = world.agent("owner");
  await owner.handoff({ to: "worker", capability: "top" }).result;
  await owner.handoff({ to: "worker", capability: "silent" }).result;
  await settled();

  const used = spans
    .getFinishedSpans()
    .filter(({ name }) => name === "invoke_agent worker")
    .map(({ attributes }) =>
      Object.fromEntries(Object.entries(attributes).filter(([name]) => /usage|model/.test(name))),
    );
  expect(used).toEqual([
    {
      "gen_ai.usage.input_tokens": 7,
      "gen_ai.usage.output_tokens": 1,
      "gen_ai.request.model": "small",
    },
    {
      "gen_ai.usage.input_tokens": 300,
      "gen_ai.usage.cache_read.input_tokens": 200,
      "gen_ai.usage.output_tokens": 40,
      "gen_ai.usage.reasoning.output_tokens": 30,
      "gen_ai.request.model": "large",
    },
    {},
  ]);

  await reader.forceFlush();
  const [metric] = exporter.getMetrics().flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ scope, metrics: all }) => {
      expect(scope.name).toBe("@waybill/agent");
      return all;
    }),
  );
  expect(metric?.descriptor).toMatchObject({ name: "gen_ai.client.token.usage", unit: "{token}" });
  const points = metric!.dataPoints.map(({ attributes, value }) => {
    const { sum, count } = value as Histogram;
    return [attributes["gen_ai.request.model"], attributes["gen_ai.token.type"], count, sum];
  });
  expect(points).toEqual([
    ["small", "input", 1, 7],
    ["small", "output", 1, 1],
    ["large", "input", 1, 300],
    ["large", "output", 1, 40],
  ]);
  for (const { attributes } of metric!.dataPoints) {
    expect(attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "waybill",
    });
  }
  const { buckets } = metric!.dataPoints[0]!.value as Histogram;
  expect(buckets.boundaries.slice(0, 4)).toEqual([1, 4, 16, 64]);
});
