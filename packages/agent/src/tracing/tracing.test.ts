import { context, createTraceState, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { SpanContext, TraceState } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { newId, WaybillError } from "@waybill/protocol";
import { afterAll, afterEach, expect, test } from "vitest";
import { settled, World } from "../world-fixture.ts";

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();

afterEach(() => exporter.reset());
afterAll(() => provider.shutdown());

const never = () => new Promise<never>(() => undefined);

/** All ended spans with this name, in the order of their start. */
function spans(name: string): ReadableSpan[] {
  const order = ({ startTime: [seconds, nanoseconds] }: ReadableSpan) =>
    seconds * 1e9 + nanoseconds;
  return exporter
    .getFinishedSpans()
    .filter((each) => each.name === name)
    .toSorted((a, b) => order(a) - order(b));
}

function span(name: string): ReadableSpan {
  const [found, ...more] = spans(name);
  if (found === undefined || more.length > 0) {
    const names = exporter.getFinishedSpans().map((each) => each.name);
    throw new Error(`Not one span "${name}" among ${names.join(", ")}`);
  }
  return found;
}

function contextOf(name: string): SpanContext {
  return span(name).spanContext();
}

function expectChild(name: string, parent: string): void {
  expect(span(name).parentSpanContext?.spanId).toBe(contextOf(parent).spanId);
  expect(contextOf(name).traceId).toBe(contextOf(parent).traceId);
}

test("one trace spans delegator, hub, recipient and a child that the recipient hands off", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve<number>("square", ({ input }) => input ** 2);
  await worker.start();
  const lead = world.agent("lead");
  lead.serve("sum", async (work) => {
    const own = trace.getTracer("app").startSpan("own");
    own.end();
    // Started in another context, as a framework with its own workers does.
    const part = context.with(trace.deleteSpan(context.active()), () =>
      work.handoff({ to: "worker", capability: "square", input: 3 }),
    );
    return (await part.result).output!;
  });
  await lead.start();
  const job = trace.getTracer("app").startActiveSpan("job", (active) => {
    const handoff = world.agent("owner").handoff({ capability: "sum" });
    active.end();
    return handoff;
  });
  expect(await job.result).toMatchObject({ output: 9 });
  await settled();

  expectChild("send sum", "job");
  expectChild("custody sum", "send sum");
  expectChild("process sum", "send sum");
  expectChild("invoke_agent lead", "process sum");
  expectChild("own", "invoke_agent lead");
  expectChild("send worker", "invoke_agent lead");
  expectChild("custody worker", "send worker");
  expectChild("process worker", "send worker");
  expectChild("invoke_agent worker", "process worker");
  const { traceId, spanId } = contextOf("send sum");
  expect(job.envelope.traceparent).toBe(`00-${traceId}-${spanId}-01`);
  expect(await world.check()).toMatchObject({ holds: true, violations: [] });
});

test("spans have the names and attributes of the conventions, and no content", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("secret_keeping", () => "hush");
  await worker.start();
  const brief = { instruction: "hush" };
  const handoff = world
    .agent("owner")
    .handoff({ to: "worker", capability: "secret_keeping", brief });
  await handoff.result;
  await settled();

  const { id, handoff_id, correlation_id } = handoff.envelope;
  const messaging = {
    "messaging.system": "waybill",
    "messaging.destination.name": "worker",
    "messaging.message.id": id,
    "messaging.message.conversation_id": correlation_id,
    "messaging.waybill.handoff.id": handoff_id,
    "messaging.waybill.capability": "secret_keeping",
  };
  const of = (name: string) => {
    const { kind, attributes, status } = span(name);
    return { kind, attributes, status };
  };
  const status = { code: SpanStatusCode.UNSET };
  expect(of("send worker")).toEqual({
    kind: SpanKind.PRODUCER,
    status,
    attributes: {
      ...messaging,
      "messaging.operation.name": "send",
      "messaging.operation.type": "send",
      "messaging.client.id": "owner",
    },
  });
  expect(of("custody worker")).toEqual({
    kind: SpanKind.SERVER,
    status,
    attributes: {
      ...messaging,
      "messaging.operation.name": "custody",
      "messaging.client.id": "hub",
    },
  });
  expect(of("process worker")).toEqual({
    kind: SpanKind.CONSUMER,
    status,
    attributes: {
      ...messaging,
      "messaging.operation.name": "process",
      "messaging.operation.type": "process",
      "messaging.client.id": "worker",
      "messaging.waybill.attempt": 1,
    },
  });
  expect(span("process worker").links).toMatchObject([
    { context: { spanId: contextOf("send worker").spanId } },
  ]);
  expect(of("invoke_agent worker")).toEqual({
    kind: SpanKind.INTERNAL,
    status,
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "waybill",
      "gen_ai.agent.id": "worker",
      "gen_ai.agent.name": "worker",
      "gen_ai.conversation.id": correlation_id,
    },
  });
  for (const each of exporter.getFinishedSpans()) {
    expect(each.instrumentationScope.schemaUrl).toMatch(/schemas\/1\.41\.0$/);
    expect(JSON.stringify([each.name, each.attributes, each.events])).not.toContain("hush");
  }
});

test("each attempt has its own spans in the same trace", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("flaky", ({ attempt }) => {
    if (attempt === 1) throw new WaybillError(500, "hush", { retryable: true });
    return "done";
  });
  await worker.start();
  const handoff = world.agent("owner").handoff({ capability: "flaky", timeoutMs: 600_000 });
  await handoff.custody;
  await world.clock.advance(60_000);
  expect(await handoff.result).toMatchObject({ output: "done", attempt: 2 });
  await settled();

  const processes = spans("process flaky");
  const sent = contextOf("send flaky");
  expect(processes.map(({ attributes }) => attributes["messaging.waybill.attempt"])).toEqual([
    1, 2,
  ]);
  for (const each of processes) {
    expect(each.spanContext().traceId).toBe(sent.traceId);
    expect(each.parentSpanContext?.spanId).toBe(sent.spanId);
  }
  const failed = { code: SpanStatusCode.ERROR, message: "TASK_FAILED" };
  const unset = { code: SpanStatusCode.UNSET };
  expect(processes.map(({ status }) => status)).toEqual([failed, unset]);
  expect(processes.map(({ attributes }) => attributes["error.type"])).toEqual(["500", undefined]);
  const invoked = spans("invoke_agent worker");
  expect(invoked.map(({ status }) => status)).toEqual([failed, unset]);
  expect(invoked.map((each) => each.parentSpanContext?.spanId)).toEqual(
    processes.map((each) => each.spanContext().spanId),
  );
});

test("the span of a failure has its status", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve({ name: "strict", timeout_seconds: 60 }, never);
  worker.serve("endless", ({ signal }) => {
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  });
  await worker.start();
  const owner = world.agent("owner");
  const failed = (name: string) => {
    const { status, attributes } = span(name);
    return [status.code === SpanStatusCode.ERROR, attributes["error.type"]];
  };

  const unknown = owner.handoff({ capability: "unknown" });
  await expect(unknown.result).rejects.toMatchObject({ status: 404 });
  await settled();
  expect(failed("send unknown")).toEqual([true, "404"]);
  expect(failed("custody unknown")).toEqual([true, "404"]);

  const contract = { timeout_seconds: 1 };
  const refused = owner.handoff({ to: "worker", capability: "strict", contract });
  await expect(refused.result).rejects.toMatchObject({ status: 406 });
  await settled();
  expect(failed("send worker")).toEqual([false, undefined]);
  expect(failed("process worker")).toEqual([true, "406"]);
  expect(spans("invoke_agent worker")).toEqual([]);

  const cancelled = owner.handoff({ capability: "endless" });
  await cancelled.accepted;
  await cancelled.cancel();
  await settled();
  expect(failed("process endless")).toEqual([true, "499"]);
  expect(failed("invoke_agent worker")).toEqual([true, "499"]);
});

test("a trace context that the application passes is sent as it is", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
  const traceId = "a".repeat(32);
  const traceparent = `00-${traceId}-${"b".repeat(16)}-01`;
  const handoff = world
    .agent("owner")
    .handoff({ capability: "work", traceparent, tracestate: "vendor=1" });
  await handoff.result;
  await settled();
  expect(handoff.envelope).toMatchObject({ traceparent, tracestate: "vendor=1" });
  for (const name of ["send work", "custody work", "process work"]) {
    expect(contextOf(name)).toMatchObject({ traceId });
    expect(contextOf(name).traceState?.get("vendor")).toBe("1");
    expect(span(name).parentSpanContext?.spanId).toBe("b".repeat(16));
  }
  expect(span("send work").kind).toBe(SpanKind.CLIENT);
  expect(span("send work").links).toHaveLength(1);
});

test("a trace state is passed on, unless it is longer than others must accept", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
  const owner = world.agent("owner");
  const within = (state: TraceState) => {
    const parent = {
      traceId: "c".repeat(32),
      spanId: "d".repeat(16),
      traceFlags: 1,
      traceState: state,
    };
    return context.with(trace.setSpanContext(context.active(), parent), () =>
      owner.handoff({ capability: "work" }),
    );
  };
  const short = within(createTraceState("vendor=1"));
  const half = createTraceState(`a=${"x".repeat(255)}`);
  const long = within(half.set("b", "x".repeat(255)).set("c", "x"));
  await Promise.all([short.result, long.result]);
  expect(short.envelope.tracestate).toBe("vendor=1");
  expect(long.envelope.tracestate).toBeUndefined();
  expect(long.envelope.traceparent).toMatch(/^00-c{32}-/);
});

test("a handoff that is found again is not sent again, and has no span of its own", async () => {
  const world = await World.open();
  const worker = world.agent("worker");
  worker.serve("work", () => "done");
  await worker.start();
  const owner = world.agent("owner");
  const options = { capability: "work", handoffId: newId() };
  expect(owner.handoff(options)).toBe(owner.handoff(options));
  await owner.handoff(options).result;
  await settled();
  expect(spans("send work")).toHaveLength(1);
});
