import type { Digest } from "../signing/digest.ts";
import type { ListedHandoff } from "../envelope/body.ts";
import type { Envelope, ReceiptEnvelope } from "../envelope/envelope.ts";
import { isAddressed } from "../lifecycle/addressee.ts";
import { eventOf } from "../lifecycle/event.ts";
import type { Handoff, LifecycleEvent, Step } from "../lifecycle/handoff.ts";
import { recordOf, traceIdOf } from "./history-family.ts";
import { markEnded, violated } from "./history-record.ts";
import type { EntryOf, HandoffRecord, History } from "./history-record.ts";
import { step } from "../lifecycle/lifecycle.ts";
import { isFailure } from "../status.ts";
import type { StatusCode } from "../status.ts";
import type { HandoffState } from "../lifecycle/transitions.ts";

export function checkEnvelope(history: History, entry: EntryOf<"envelope">): void {
  const { envelope, digest, at, status } = entry;
  const record = history.records.get(envelope.handoff_id);
  const found = eventOf(envelope, digest, at);
  if (isAcknowledgementOfSeveral(envelope)) {
    if (!isFailure(status ?? 100)) noteList(history, record, envelope, digest);
    return;
  }
  if (found === undefined) return checkStatementOfHub(history, record, entry);
  const event =
    found.type === "submit" ? { ...found, terms: { ...entry.terms, ...found.terms } } : found;
  const next = tolerantStep(history, record?.state, event);
  const isRepeated = record?.taken.has(digest) === true;
  const answer = status ?? (isRepeated ? 201 : replyOf(next));
  if (answer < 300 && answer !== 201) return checkAccepted(history, record, entry, next);
  if (answer === 201 && replyOf(next) === 100 && !isRepeated) {
    const message = `The ${envelope.kind} was answered 201, but none with its digest came before.`;
    violated(history, "duplicate_of_nothing", envelope.handoff_id, message);
  }
  if (record?.state.state !== "open" || replyOf(next) < 300) return;
  recordState(history, record, next.state!);
  if (record.end !== undefined) record.end.isInferred = true;
}

function isAcknowledgementOfSeveral(envelope: Envelope): envelope is ReceiptEnvelope {
  if (envelope.kind !== "receipt") return false;
  return envelope.body.status === 200 && envelope.body.also !== undefined;
}

/** It changes nothing by itself: the hub records an event for each handoff that it acknowledges. */
function noteList(
  history: History,
  record: HandoffRecord | undefined,
  envelope: ReceiptEnvelope,
  digest: Digest,
): void {
  history.lists.set(digest, envelope);
  if (record !== undefined) checkCorrelation(history, record, envelope);
  if (history.hub === undefined || envelope.to === history.hub) return;
  const message = `The hub took an acknowledgement of several that is addressed to ${envelope.to}.`;
  violated(history, "addressed_to_another", envelope.handoff_id, message);
}

/**
 * The hub took the envelope: its sender must have been allowed to send it, and its effect must hold
 * from then on.
 */
function checkAccepted(
  history: History,
  before: HandoffRecord | undefined,
  { envelope, digest, at }: EntryOf<"envelope">,
  { state, effects }: Step,
): void {
  const violations = history.violations.length;
  const id = envelope.handoff_id;
  if (envelope.kind === "handoff" && before === undefined && state !== undefined) {
    const opened = recordOf(history, envelope, digest, state);
    opened.taken.set(digest, envelope.from);
    history.records.set(id, opened);
    return;
  }
  if (before !== undefined) {
    if (before.taken.has(digest)) {
      const message = `This very ${envelope.kind} was taken before; it must be answered 201.`;
      violated(history, "repeat_not_noticed", id, message);
      return;
    }
    checkSender(history, before, envelope);
    checkAddressee(history, before, envelope);
    checkCorrelation(history, before, envelope);
    checkEnd(history, before, envelope, at);
  }
  const reply = replyOf({ state, effects });
  if (reply !== 100 && history.violations.length === violations) {
    const message = `The hub took the ${envelope.kind} from ${envelope.from}, the rules answer it ${reply}.`;
    violated(history, "against_rules", id, message);
  }
  if (before === undefined || state === undefined) return;
  before.taken.set(digest, envelope.from);
  recordState(history, before, state);
  if (history.violations.length > violations) return;
  const isSuccess = envelope.kind === "result" && envelope.body.status === 200;
  if (isSuccess || envelope.kind === "cancel") {
    expectEnd(history, before, isSuccess ? "completed" : "cancelled", digest);
  }
}

/** Whether the entry itself is an end, independent of the reducer. */
export function expectEnd(
  history: History,
  record: HandoffRecord,
  to: HandoffState,
  outcome: Digest | null,
): void {
  markEnded(history, record, outcome);
  const { state } = record;
  if (state.state === to && state.outcome === outcome) return;
  const message = `By this entry it is ${to}, by the rules it is ${state.state}.`;
  violated(history, "end_differs", record.id, message);
}

/** Takes over the reducer's state after an entry. Its ends are compared with the entries so far. */
export function recordState(history: History, record: HandoffRecord, state: Handoff): void {
  const before = record.state;
  record.state = state;
  if (state === before) return;
  if (before.state !== "open") {
    const isSame = before.state === state.state && before.outcome === state.outcome;
    if (isSame) return;
    const message = `It had ended as ${before.state} and is now ${state.state}.`;
    violated(history, "end_differs", record.id, message);
  } else if (state.state !== "open") {
    markEnded(history, record, state.outcome);
  }
}

function checkSender(history: History, record: HandoffRecord, envelope: Envelope): void {
  const isAcceptance = envelope.kind === "receipt" && envelope.body.status === 101;
  if (!isAcceptance && envelope.kind !== "result") return;
  const { attempt, from, re } = envelope;
  const holder = attempt === undefined ? undefined : record.offers[attempt - 1];
  if (from !== holder) {
    const rule = isAcceptance ? "acceptance_not_by_recipient" : "result_not_by_recipient";
    const message = `It is signed by ${from}, but attempt ${attempt} was offered to ${holder ?? "nobody"}.`;
    violated(history, rule, record.id, message);
  }
  if (re !== record.digest) {
    const rule = isAcceptance ? "acceptance_of_other_digest" : "result_of_other_digest";
    violated(history, rule, record.id, `It names ${re}, the handoff is ${record.digest}.`);
  }
}

function checkAddressee(history: History, record: HandoffRecord, envelope: Envelope): void {
  if (isAddressed(envelope, record.state, history.hub)) return;
  const message = `The hub took a ${envelope.kind} that is addressed to ${JSON.stringify(envelope.to)}, for whom it is not.`;
  violated(history, "addressed_to_another", record.id, message);
}

/** A delivery must go to the agent that it concerns. */
function checkReader(
  history: History,
  { handoff_id: id, kind, to }: Envelope,
  reader: string | undefined,
): void {
  if (reader === undefined || to === reader) return;
  const message = `The ${kind} of the hub is addressed to ${JSON.stringify(to)}, but it is for ${reader}.`;
  violated(history, "addressed_to_another", id, message);
}

function checkCorrelation(history: History, record: HandoffRecord, envelope: Envelope): void {
  if (envelope.correlation_id !== record.correlationId) {
    const message = `The ${envelope.kind} is under correlation id ${envelope.correlation_id}, its handoff under ${record.correlationId}.`;
    violated(history, "correlation_differs", record.id, message);
  }
  const traceId = traceIdOf(envelope.traceparent);
  const isOther = traceId !== undefined && traceId !== record.traceId;
  if (isOther && record.traceId !== undefined) {
    const message = `The ${envelope.kind} belongs to trace ${traceId}, its handoff to ${record.traceId}.`;
    violated(history, "trace_differs", record.id, message);
  }
}

function checkEnd(history: History, record: HandoffRecord, envelope: Envelope, at: number): void {
  const isSuccess = envelope.kind === "result" && envelope.body.status === 200;
  const isAcknowledgement = envelope.kind === "receipt" && envelope.body.status === 200;
  if (record.end !== undefined && envelope.kind !== "handoff" && !isAcknowledgement) {
    const isEnd = isSuccess || envelope.kind === "cancel";
    const message = `The hub took a ${envelope.kind} after the end (${record.state.state}).`;
    violated(history, isEnd ? "ended_twice" : "after_end", record.id, message);
  }
  if (isSuccess && at >= record.deadline + history.clockSkewMs) {
    const message = `It was completed ${at - record.deadline} ms after its deadline.`;
    violated(history, "completed_late", record.id, message);
  }
}

/** Receipts and notices that cause nothing still have to be true. */
function checkStatementOfHub(
  history: History,
  record: HandoffRecord | undefined,
  { envelope, status }: EntryOf<"envelope">,
): void {
  if (status !== undefined && status >= 300) return;
  const { handoff_id: id, from } = envelope;
  if (record !== undefined) checkCorrelation(history, record, envelope);
  if (envelope.kind === "notice") {
    checkReader(history, envelope, record?.delegator);
    if (record?.state.state === "dead_lettered" && envelope.body.reason.trim() === "") {
      const message = "The notice of the dead letter gives no reason.";
      violated(history, "dead_letter_without_reason", id, message);
    }
    return;
  }
  if (envelope.kind !== "receipt") return;
  if (envelope.body.status === 101) {
    const message = `${from} reports an acceptance without holding an attempt.`;
    violated(history, "acceptance_not_by_recipient", id, message);
  }
  const confirmed = [envelope, ...(envelope.body.also ?? [])];
  for (const each of confirmed) checkReader(history, envelope, senderOf(history, each));
  if (envelope.body.status !== 100) return;
  if (history.hub !== undefined && from !== history.hub) {
    const message = `The custody receipt is signed by ${from}, the hub is ${history.hub}.`;
    violated(history, "custody_not_by_hub", id, message);
  }
  for (const each of confirmed) {
    if (senderOf(history, each) !== undefined) continue;
    const message = `The receipt is for ${each.re}, which is not in the history of that handoff.`;
    violated(history, "custody_without_envelope", each.handoff_id, message);
  }
}

/** Who has sent the envelope that a receipt confirms; undefined if the hub has not taken it. */
function senderOf({ lists, records }: History, { handoff_id: id, re }: ListedHandoff) {
  return lists.get(re)?.from ?? records.get(id)?.taken.get(re);
}

export function replyOf({ effects }: Step): StatusCode {
  const [first] = effects;
  return first?.type === "reply" ? first.status : 500;
}

/** An entry that the rules refuse by its own time may be right by a clock within the allowed skew. */
export function tolerantStep(
  { clockSkewMs }: History,
  state: Handoff | undefined,
  event: LifecycleEvent,
): Step {
  const strict = step(state, event);
  if (clockSkewMs === 0 || replyOf(strict) < 300) return strict;
  const late = step(state, { ...event, at: event.at + clockSkewMs });
  if (replyOf(late) < 300) return late;
  // By the earlier clock the deadline may still be ahead, so a refusal does not end the handoff yet.
  return step(state, { ...event, at: event.at - clockSkewMs });
}
