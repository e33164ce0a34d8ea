import type { Digest } from "../signing/digest.ts";
import type { Envelope, Group, ReceiptEnvelope } from "../envelope/envelope.ts";
import type { EventOf, Handoff, LifecycleTerms } from "../lifecycle/handoff.ts";
import type { StatusCode } from "../status.ts";

/** Events that no envelope carries: the hub's own steps, and unsigned frames of recipients. */
export type HubEvent =
  | EventOf<
      | "offer"
      | "taken"
      | "heartbeat"
      | "unreachable"
      | "lease_lost"
      | "parent_ended"
      | "group_decided"
      | "expire"
      | "dead_letter"
      | "discard"
    >
  | Acknowledge;

/** One of several that an envelope of the delegator acknowledges: the envelope with this digest. */
type Acknowledge = EventOf<"acknowledge"> & { readonly in: Digest };

/** One entry of a history: an envelope, or an event that no party signed. */
export type HistoryEntry =
  | {
      readonly type: "envelope";
      readonly at: number;
      readonly digest: Digest;
      readonly envelope: Envelope;
      /** The hub's answer; if undefined, the rules determine what it must have been. */
      readonly status?: StatusCode | undefined;
      /** For a handoff: the terms that the hub bound where its contract says nothing. */
      readonly terms?: Partial<LifecycleTerms> | undefined;
    }
  | {
      readonly type: "event";
      readonly at: number;
      readonly handoff_id: string;
      readonly event: HubEvent;
    }
  /** The delegator's framework has committed this result. */
  | {
      readonly type: "applied";
      readonly at: number;
      readonly handoff_id: string;
      readonly digest: Digest;
      readonly by: string;
    }
  /** A side effect, as observed at an external target that drops known keys. */
  | {
      readonly type: "effect";
      readonly at: number;
      readonly handoff_id: string;
      readonly key: string;
    };

export type EntryOf<Type extends HistoryEntry["type"]> = Extract<
  HistoryEntry,
  { readonly type: Type }
>;

/** How a history is checked. */
export interface HistoryOptions {
  /** True if nothing more will come: then every handoff must have ended. */
  readonly isComplete?: boolean | undefined;
  /** The hub's id: custody receipts of anybody else are violations. */
  readonly hub?: string | undefined;
  /** How far the clocks behind the entries' times may be apart; 0 if one clock gave them all. */
  readonly clockSkewMs?: number | undefined;
}

/** One violation of a promise by a history. */
export interface Violation {
  readonly promise: "P1" | "P2" | "P3" | "P4";
  readonly rule: RuleName;
  readonly handoffId: string;
  /** Index of the offending entry, or -1 for something missing at the end. */
  readonly index: number;
  readonly message: string;
}

/** Whether a history keeps the promises, and where it violates them. */
export interface HistoryReport {
  readonly holds: boolean;
  readonly handoffs: number;
  readonly entries: number;
  readonly violations: readonly Violation[];
}

/** Every rule of the checker and the promise that it guards. */
export const HISTORY_RULES = {
  acceptance_not_by_recipient: "P1",
  acceptance_of_other_digest: "P1",
  custody_not_by_hub: "P1",
  custody_without_envelope: "P1",
  acknowledged_without_envelope: "P1",
  against_rules: "P2",
  event_refused: "P2",
  ended_twice: "P2",
  after_end: "P2",
  end_differs: "P2",
  parent_not_ended: "P2",
  group_not_decided: "P2",
  never_ended: "P2",
  repeat_not_noticed: "P2",
  duplicate_of_nothing: "P2",
  applied_before_end: "P2",
  applied_not_outcome: "P2",
  applied_twice: "P2",
  effect_key: "P2",
  effect_twice: "P2",
  child_outlives_parent: "P3",
  completed_late: "P3",
  expired_early: "P3",
  open_past_deadline: "P3",
  dead_letter_without_reason: "P3",
  addressed_to_another: "P4",
  correlation_differs: "P4",
  trace_differs: "P4",
  child_correlation_differs: "P4",
  child_trace_differs: "P4",
  result_not_by_recipient: "P4",
  result_of_other_digest: "P4",
  group_differs: "P4",
  group_index_out_of_range: "P4",
  group_index_taken: "P4",
  applied_of_another: "P4",
  applied_by_another: "P4",
} as const;

/** The names of the rules by which a history is checked. */
export type RuleName = keyof typeof HISTORY_RULES;

export interface HandoffEnd {
  readonly outcome: Digest | null;
  /** True if only the hub's refusal of something late shows that the deadline passed. */
  isInferred: boolean;
}

/** What the entries say about one handoff, beside the reducer's state of it. */
export interface HandoffRecord {
  readonly id: string;
  readonly digest: Digest;
  readonly delegator: string;
  readonly correlationId: string;
  readonly traceId: string | undefined;
  readonly parentId: string | undefined;
  readonly group: Group | undefined;
  readonly deadline: number;
  state: Handoff;
  /** The agent to which the hub offered each attempt, the first at index 0. */
  readonly offers: string[];
  /** The accepted envelopes, each with its sender. */
  readonly taken: Map<Digest, string>;
  end: HandoffEnd | undefined;
  isApplied: boolean;
  hasEffect: boolean;
}

export interface GroupRecord {
  readonly size: number;
  readonly join: string;
  readonly quorum: number | undefined;
  readonly correlationId: string;
  /** Which handoff has an index. */
  readonly members: Map<number, string>;
}

export interface History {
  readonly hub: string | undefined;
  readonly clockSkewMs: number;
  readonly records: Map<string, HandoffRecord>;
  readonly groups: Map<string, GroupRecord>;
  /** Which handoff an envelope is the outcome of. */
  readonly outcomes: Map<Digest, string>;
  /** Acknowledgements of several handoffs. */
  readonly lists: Map<Digest, ReceiptEnvelope>;
  readonly violations: Violation[];
  /** Index of the entry under examination. */
  index: number;
  lastAt: number;
}

/** Adds a violation at the entry under examination. */
export function violated(
  history: History,
  rule: RuleName,
  handoffId: string,
  message: string,
): void {
  const promise: Violation["promise"] = HISTORY_RULES[rule];
  history.violations.push({ promise, rule, handoffId, index: history.index, message });
}

/** Records an end; the first one counts. */
export function markEnded(history: History, record: HandoffRecord, outcome: Digest | null): void {
  if (record.end !== undefined) return;
  record.end = { outcome, isInferred: false };
  if (outcome !== null) history.outcomes.set(outcome, record.id);
}
