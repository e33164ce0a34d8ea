import { digestOf } from "@waybill/protocol";
import type { Digest, StatusCode, VerifiedEnvelope } from "@waybill/protocol";
import type { Discard } from "@waybill/protocol/wire";
import type { HistoryEntry } from "@waybill/protocol/audit";
import type { LifecycleEvent, LifecycleTerms } from "@waybill/protocol/hub";
import type { NewEntry } from "../store.ts";

export type HubEvent = Extract<HistoryEntry, { type: "event" }>["event"];

/** A decision of the hub, as recorded in the ledger. */
export type Decision =
  | HubEvent
  | (Extract<HubEvent, { readonly type: "discard" }> & Discard)
  /** The next envelope in the ledger was refused. */
  | { readonly type: "refused"; readonly digest: Digest; readonly status: StatusCode }
  /** The terms bound by the next handoff envelope. */
  | { readonly type: "bound"; readonly digest: Digest; readonly terms: LifecycleTerms }
  | { readonly type: "replayed"; readonly by: string };

export function envelopeEntry(at: number, { envelope, digest, text }: VerifiedEnvelope): NewEntry {
  return {
    at,
    handoffId: envelope.handoff_id,
    type: "envelope",
    content: text,
    digest,
    replayKey: { from: envelope.from, id: envelope.id },
  };
}

/**
 * For an envelope about several handoffs. The history of each is open to its parties, who must not see
 * the others, so it is recorded under none.
 */
export function entryApart(at: number, verified: VerifiedEnvelope): NewEntry {
  return { ...envelopeEntry(at, verified), handoffId: null };
}

export function decisionEntry(at: number, handoffId: string, decision: Decision): NewEntry {
  const content = JSON.stringify({ ...decision, handoff_id: handoffId });
  return {
    at,
    handoffId,
    type: "decision",
    content,
    digest: digestOf(content),
    replayKey: null,
  };
}

export function isHubEvent(event: LifecycleEvent | Decision): event is HubEvent {
  return HUB_EVENTS.has(event.type);
}

const HUB_EVENTS: ReadonlySet<string> = new Set<HubEvent["type"]>([
  "offer",
  "taken",
  "heartbeat",
  "unreachable",
  "lease_lost",
  "parent_ended",
  "group_decided",
  "expire",
  "dead_letter",
  "discard",
  "acknowledge",
]);
