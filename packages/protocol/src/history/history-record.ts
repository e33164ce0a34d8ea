import type { Digest } from "../signing/digest.ts";
import type { Envelope, Group } from "../envelope/envelope.ts";
import type { EventOf, Handoff, LifecycleTerms } from "../lifecycle/handoff.ts";
import type { StatusCode } from "../status.ts";

/** What no envelope carries: the hub's own steps, and the unsigned frames of recipients. */
export type HubEvent = EventOf<
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
>;

/** One entry of a history: an envelope, or an event that no party signed. */
export type HistoryEntry =
  | {
      readonly type: "envelope";
      readonly at: number;
      readonly digest: Digest;
      readonly envelope: Envelope;
      /** What the hub answered; where it is left out, the rules say what it must have been. */
      readonly status?: StatusCode | undefined;
      /** With a handoff: the terms that the hub bound where its contract is silent. */
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
  /** A side effect, as seen at an outside target that drops what has a key it knows. */
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
  /** True when nothing more will come: then every handoff must have ended. */
  readonly isComplete?: boolean | undefined;
  /** The hub's id: custody receipts of anybody else are violations. */
  readonly hub?: string | undefined;
  /** How far the clocks behind the entries' times may be apart; 0 where one clock gave them all. */
  readonly clockSkewMs?: number | undefined;
}

/** One place where a history breaks a promise. */
export interface Violation {
  readonly promise: "P1" | "P2" | "P3" | "P4";
  readonly rule: RuleName;
  readonly handoffId: string;
  /** Position of the offending entry, or -1 for what is missing at the end. */
  readonly index: number;
  readonly message: string;
}

/** Whether a history keeps the promises, and where it breaks them. */
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

/** The names of the rules that a history is checked by. */
export type RuleName = keyof typeof HISTORY_RULES;

export interface HandoffEnd {
  readonly outcome: Digest | null;
  /** True where the hub's refusal of something late is all that shows that the deadline passed. */
  isInferred: boolean;
}

/** What the entries say about one handoff, next to what the reducer makes of them. */
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
  /** Whom the hub offered each attempt, the first at 0. */
  readonly offers: string[];
  /** The envelopes that were taken, each with who sent it. */
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
  /** Which handoff stands at an index. */
  readonly members: Map<number, string>;
}

export interface History {
  readonly hub: string | undefined;
  readonly clockSkewMs: number;
  readonly records: Map<string, HandoffRecord>;
  readonly groups: Map<string, GroupRecord>;
  /** Which handoff an envelope is the outcome of. */
  readonly outcomes: Map<Digest, string>;
  readonly violations: Violation[];
  /** Position of the entry under examination. */
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

/** Notes an end; the first one counts. */
export function markEnded(history: History, record: HandoffRecord, outcome: Digest | null): void {
  if (record.end !== undefined) return;
  record.end = { outcome, isInferred: false };
  if (outcome !== null) history.outcomes.set(outcome, record.id);
}
