import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { expect, test } from "vitest";
import { settled, World } from "../world-fixture.ts";

test("without a tracing SDK a trace context is passed on unchanged, and a late SDK is used", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("leaf", () => "leaf");
  let registered = (): void => undefined;
  const registration = new Promise<void>((resolve) => (registered = resolve));
  worker.serve("late", async (work) => {
    await registration;
    return (await work.handoff({ to: "worker", capability: "leaf" }).result).output!;
  });
  worker.serve("whole", async (work) => {
    const leaf = work.handoff({ to: "worker", capability: "leaf" });
    await leaf.result;
    return leaf.envelope.traceparent ?? "none";
  });
  await worker.start();
  const owner = world.agent("owner");
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const traced = await owner.handoff({ capability: "whole", traceparent }).result;
  expect(traced.output).toBe(traceparent);
  const untraced = owner.handoff({ capability: "whole" });
  expect(await untraced.result).toMatchObject({ output: "none" });
  expect(untraced.envelope.traceparent).toBeUndefined();

  const late = owner.handoff({ capability: "late", traceparent });
  await late.accepted;
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  registered();
  expect(await late.result).toMatchObject({ output: "leaf" });
  await settled();
  const [part] = exporter.getFinishedSpans().filter(({ name }) => name === "send worker");
  expect(part?.spanContext().traceId).toBe("a".repeat(32));
  exporter.reset();

  await owner.handoff({ capability: "leaf" }).result;
  await settled();
  const names = exporter.getFinishedSpans().map(({ name }) => name);
  expect(names.toSorted()).toEqual([
    "custody leaf",
    "invoke_agent worker",
    "process leaf",
    "send leaf",
  ]);
  await provider.shutdown();
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});
