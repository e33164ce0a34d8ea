import { sumUsage } from "@waybill/protocol";
import type { UsageRow } from "@waybill/protocol";
import type { Signature, Trace, TraceHandoff } from "./trace.ts";

/** A trace for programs, with wire names. */
export function traceJson(trace: Trace): unknown {
  return {
    correlation_id: trace.correlationId,
    started_at: timeText(trace.startedAt),
    ended_at: timeText(trace.endedAt),
    signatures: trace.signatures,
    usage: usageJson(trace.usage),
    handoffs: trace.handoffs.map(handoffJson),
    apart: trace.apart.map(handoffJson),
  };
}

function handoffJson(handoff: TraceHandoff): unknown {
  const { id, capability, delegator, recipient, state, status, attempts } = handoff;
  return {
    id,
    capability,
    delegator,
    on_behalf_of: handoff.onBehalfOf ?? null,
    recipient: recipient ?? null,
    state,
    status,
    attempts,
    started_at: timeText(handoff.startedAt),
    ended_at: timeText(handoff.endedAt),
    deadline: timeText(handoff.deadline),
    replay_of: handoff.replayOf ?? null,
    starts_at: timeText(handoff.startsAt),
    waits_for: handoff.waitsFor,
    session: handoff.session ?? null,
    usage: usageJson(handoff.usage),
    breaches: handoff.breaches,
    events: handoff.events.map(
      ({ sequence, at, type, by, attempt, status: own, says, signature, receipt }) => ({
        sequence,
        at: timeText(at),
        type,
        by,
        attempt: attempt ?? null,
        status: own ?? null,
        says,
        signature: signatureJson(signature),
        receipt: signatureJson(receipt),
      }),
    ),
    children: handoff.children.map(handoffJson),
  };
}

function usageJson(rows: readonly UsageRow[]): unknown {
  return rows.length === 0 ? null : { total: sumUsage(rows), rows };
}

function signatureJson(signature: Signature | undefined): Signature | null {
  return signature ?? null;
}

function timeText(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
