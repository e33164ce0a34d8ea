import { createHandoff, derivedId } from "@waybill/protocol";
import type { HandoffEnvelope, Json } from "@waybill/protocol";

/** Whose handoff a replay is. */
export interface Replayer {
  readonly agent: string;
  readonly domain: string;
}

/** What differs from the first time. */
export interface Changes {
  /** Undefined for the same input. */
  readonly input?: Json | undefined;
  /** By default as long as the first time. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The id of a dead letter's replay. It is derived, so that however often and by whomever it is
 * replayed, the hub takes one of them.
 */
export function replayId(id: string): string {
  return derivedId("replay", id);
}

/** How long the handoff had from its start to its deadline. */
function timeOf({ deadline, issued_at, not_before }: HandoffEnvelope): number {
  return Date.parse(deadline) - Date.parse(not_before ?? issued_at);
}

/** The same work for the same job, as a handoff of an operators' agent. */
export function replayOf(
  original: HandoffEnvelope,
  { agent: from, domain }: Replayer,
  { input, timeoutMs = timeOf(original) }: Changes = {},
): HandoffEnvelope {
  const { body, to, correlation_id: correlationId, handoff_id: id, priority, session } = original;
  return createHandoff({
    from,
    domain,
    to,
    body: input === undefined ? body : { ...body, input },
    handoffId: replayId(id),
    correlationId,
    replayOf: id,
    priority,
    session,
    timeoutMs,
  });
}
