import { getCurrentSpan, getCurrentTrace, withTrace } from "@openai/agents";
import type { Run } from "@waybill/agent/adapter";

const TRACE_ID = /^trace_([0-9a-f]{32})$/;
const SPAN_ID = /^span_([0-9a-f]{16})/;
/** The parent if no span is open yet. It is required, and must not be all zeros. */
const NO_SPAN = "0000000000000001";

/** Runs in a trace of the SDK that has the id of the handoff's trace. */
export function inTrace<Value>(
  run: Run,
  name: string,
  course: () => Promise<Value>,
): Promise<Value> {
  const { traceparent, handoffId, correlationId } = run;
  const id = traceparent?.split("-")[1];
  return withTrace(name, course, {
    ...(id === undefined ? {} : { traceId: `trace_${id}` }),
    groupId: correlationId,
    metadata: { handoff_id: handoffId, ...(traceparent === undefined ? {} : { traceparent }) },
  });
}

/** The current span of the SDK's run, as the parent of a handoff. */
export function currentTraceparent(): string | undefined {
  const id = TRACE_ID.exec(getCurrentTrace()?.traceId ?? "")?.[1];
  const span = SPAN_ID.exec(getCurrentSpan()?.spanId ?? "")?.[1] ?? NO_SPAN;
  return id === undefined ? undefined : `00-${id}-${span}-01`;
}
