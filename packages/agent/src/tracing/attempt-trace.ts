import { context, trace } from "@opentelemetry/api";
import type { Context, Span, Tracer } from "@opentelemetry/api";
import { WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope, StatusCode, UsageRow } from "@waybill/protocol";
import { invokeAgentSpan, processSpan, usageAttributes } from "@waybill/protocol/tracing";
import { contextOf, endSpan, startSpan, tracer } from "./spans.ts";

export function traceAttempt(
  handoff: HandoffEnvelope,
  agent: string,
  attempt: number,
): AttemptTrace | undefined {
  const by = tracer();
  return by === undefined ? undefined : new AttemptTrace(by, handoff, agent, attempt);
}

/** One attempt in the trace of its handoff: the span `process`, and in it `invoke_agent`. */
export class AttemptTrace {
  readonly #by: Tracer;
  readonly #handoff: HandoffEnvelope;
  readonly #agent: string;
  readonly #process: Span;
  /** The trace context of a child that this attempt hands off. */
  scope: Context;
  #status: StatusCode | undefined;

  constructor(by: Tracer, handoff: HandoffEnvelope, agent: string, attempt: number) {
    this.#by = by;
    this.#handoff = handoff;
    this.#agent = agent;
    const created = contextOf(handoff);
    const place = trace.getSpanContext(created);
    const links = place === undefined ? [] : [{ context: place }];
    this.#process = startSpan(by, processSpan(handoff, agent, attempt), created, links);
    this.scope = trace.setSpan(created, this.#process);
  }

  /**
   * Runs the handler, so that spans it starts belong to the attempt. `used` returns the attempt's own
   * usage.
   */
  async invoke<Value>(
    handler: () => Promise<Value> | Value,
    used: () => readonly UsageRow[],
  ): Promise<Value> {
    const span = startSpan(this.#by, invokeAgentSpan(this.#handoff, this.#agent), this.scope);
    this.scope = trace.setSpan(this.scope, span);
    try {
      const value = await context.with(this.scope, handler);
      span.setAttributes(usageAttributes(used()));
      endSpan(span, 200);
      return value;
    } catch (error) {
      span.setAttributes(usageAttributes(used()));
      endSpan(span, WaybillError.from(error).status);
      throw error;
    }
  }

  /** The outcome. The first call counts: later ones are consequences of it. */
  settle(status: StatusCode): void {
    this.#status ??= status;
  }

  end(): void {
    endSpan(this.#process, this.#status ?? 100);
  }
}
