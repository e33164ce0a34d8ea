import { checkGroupDecided } from "./history-family.ts";
import { recordState, expectEnd, replyOf, tolerantStep } from "./history-envelope.ts";
import { violated } from "./history-record.ts";
import type { EntryOf, HandoffRecord, History, HubEvent } from "./history-record.ts";
import { isFailure } from "../status.ts";
import { HANDOFF_MOVES } from "../lifecycle/transitions.ts";
import type { HandoffState } from "../lifecycle/transitions.ts";

/** The end of a handoff that the hub itself has decided. */
const END_OF: Readonly<Partial<Record<HubEvent["type"], HandoffState>>> = {
  expire: HANDOFF_MOVES.expire.to,
  dead_letter: HANDOFF_MOVES.dead_letter.to,
  parent_ended: HANDOFF_MOVES.parent_ended.to,
  group_decided: HANDOFF_MOVES.group_decided.to,
};

export function checkEvent(history: History, entry: EntryOf<"event">): void {
  const { handoff_id: id, event } = entry;
  const record = history.records.get(id);
  if (event.type === "expire" && record?.end?.isInferred === true) {
    record.end.isInferred = false;
    return;
  }
  const next = tolerantStep(history, record?.state, { ...event, at: entry.at });
  const reply = replyOf(next);
  // An unsigned frame that is late, or from a stranger, is dropped: nothing was promised for it.
  const isFrame = event.type === "taken" || event.type === "heartbeat";
  const wasOpen = record?.state.state === "open";
  // A refusal that changes the state is one by the deadline: the step made it expire.
  const hasExpired = wasOpen && reply >= 300 && next.state !== record.state;
  if (!isFrame && !hasExpired) {
    const violations = history.violations.length;
    if (record !== undefined) checkHubEvent(history, record, event, entry.at);
    if (reply >= 201 && history.violations.length === violations) {
      const message = `The hub made the step ${event.type}, the rules answer it ${reply}.`;
      violated(history, "event_refused", id, message);
    }
  }
  if (record === undefined) return;
  if (event.type === "offer" && reply === 100) record.offers.push(event.recipient);
  recordState(history, record, next.state!);
  if (hasExpired && record.end !== undefined) record.end.isInferred = true;
  const to = END_OF[event.type];
  if (to !== undefined && reply === 100) expectEnd(history, record, to, null);
}

function checkHubEvent(history: History, record: HandoffRecord, event: HubEvent, at: number): void {
  if (event.type === "acknowledge") return checkAcknowledged(history, record, event);
  const isEnd = END_OF[event.type] !== undefined;
  if (record.end !== undefined && event.type !== "discard") {
    const message = `The hub made the step ${event.type} after the end (${record.state.state}).`;
    violated(history, isEnd ? "ended_twice" : "after_end", record.id, message);
    return;
  }
  if (event.type === "expire" && at < record.deadline - history.clockSkewMs) {
    const message = `It expired ${record.deadline - at} ms before its deadline.`;
    violated(history, "expired_early", record.id, message);
  }
  if (event.type === "dead_letter" && !isFailure(event.status)) {
    const message = `The dead letter's status ${event.status} is no reason for one.`;
    violated(history, "dead_letter_without_reason", record.id, message);
  }
  if (event.type === "group_decided") checkGroupDecided(history, record);
  if (event.type === "parent_ended") {
    const parent = history.records.get(record.parentId ?? "");
    if (record.parentId === undefined || (parent !== undefined && parent.end === undefined)) {
      const message = "It was cancelled with its parent, which has not ended.";
      violated(history, "parent_not_ended", record.id, message);
    }
  }
}

/** The hub must have an envelope of the delegator that acknowledges this end. */
function checkAcknowledged(
  history: History,
  { id, delegator }: HandoffRecord,
  event: Extract<HubEvent, { type: "acknowledge" }>,
): void {
  const list = history.lists.get(event.in);
  const listed = list === undefined ? [] : [list, ...list.body.also!];
  const isListed = listed.some((each) => each.handoff_id === id && each.re === event.outcome);
  if (isListed && list?.from === delegator) return;
  const message = `The hub recorded that ${delegator} acknowledged ${event.outcome}, but ${event.in} does not say so.`;
  violated(history, "acknowledged_without_envelope", id, message);
}

export function checkApplied(history: History, entry: EntryOf<"applied">): void {
  const { handoff_id: id, digest, by } = entry;
  const record = history.records.get(id);
  if (record?.end === undefined) {
    violated(history, "applied_before_end", id, `${digest} was applied, but nothing has ended.`);
    return;
  }
  if (by !== record.delegator) {
    const message = `${by} applied the result, but ${record.delegator} is the delegator.`;
    violated(history, "applied_by_another", id, message);
  }
  if (record.end.outcome !== digest) {
    const owner = history.outcomes.get(digest);
    const rule = owner === undefined ? "applied_not_outcome" : "applied_of_another";
    const message = `${digest} was applied, ${owner === undefined ? "" : `the outcome of ${owner}, `}but the outcome is ${record.end.outcome ?? "no envelope"}.`;
    violated(history, rule, id, message);
  }
  if (record.isApplied) violated(history, "applied_twice", id, "A result was applied before.");
  record.isApplied = true;
}

export function checkEffect(history: History, entry: EntryOf<"effect">): void {
  const { handoff_id: id, key } = entry;
  const record = history.records.get(id);
  if (record === undefined || key !== id) {
    const message = `The side effect has the key ${key} instead of the id of a handoff in custody.`;
    violated(history, "effect_key", id, message);
  }
  if (record === undefined) return;
  if (record.hasEffect) violated(history, "effect_twice", id, "Its side effect happened before.");
  record.hasEffect = true;
}
