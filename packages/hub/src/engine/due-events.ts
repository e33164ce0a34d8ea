import { dueEvent, liveAttempt } from "@waybill/protocol/hub";
import { decisionEntry } from "../custody/entries.ts";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import type { TakenAttempt } from "./acceptance-timers.ts";

/** What has become due since `version`, and what was unfinished when a hub went down. */
export function decideDue(
  transaction: HandoffTransaction,
  version: number,
  openedAt: number,
): void {
  const { record } = transaction;
  if (record === undefined) return;
  applyDueEvents(transaction, openedAt);
  // A frame has postponed it, only in memory; if another hub was first, nothing is left to do.
  const isStale = record === transaction.record && transaction.version === version;
  if (isStale && record.afterEnd.length === 0) transaction.isForced = true;
  if (transaction.isOpen) transaction.wantsOffer = true;
}

/** The grace period of a taken attempt is over: if it is not accepted by now, it is lost. */
export function decideUnaccepted(
  transaction: HandoffTransaction,
  { by, attempt, at }: TakenAttempt,
  openedAt: number,
): void {
  if (transaction.record === undefined) return;
  const frame = { type: "taken", by, attempt, at } as const;
  // If another hub has written since, no record contains the frame any more.
  const isApplied = transaction.frame(frame) === 100;
  const { id } = transaction.record.state;
  if (isApplied) transaction.entries.push(decisionEntry(at, id, frame));
  applyDueEvents(transaction, openedAt);
  if (transaction.isOpen) transaction.wantsOffer = true;
}

function applyDueEvents(transaction: HandoffTransaction, openedAt: number): void {
  for (let due = dueEvent(transaction.record!.state, transaction.at); due !== undefined;) {
    if (!appliesDueEvent(transaction, due, openedAt)) break;
    due = dueEvent(transaction.record!.state, transaction.at);
  }
}

function appliesDueEvent(
  transaction: HandoffTransaction,
  due: NonNullable<ReturnType<typeof dueEvent>>,
  openedAt: number,
): boolean {
  const { state } = transaction.record!;
  const live = liveAttempt(state);
  const wasSilent = live?.silentAt != null && live.silentAt < openedAt;
  if (due.type === "lease_lost" && live?.state === "accepted" && wasSilent) {
    // While the hub was down it could not hear the recipient: the attempt gets one more lease.
    const { recipient: by, number: attempt } = live;
    return transaction.frame({ type: "heartbeat", by, attempt, at: transaction.at }) === 100;
  }
  if (due.type === "expire") return transaction.decide({ type: "expire" }) === 100;
  if (due.type !== "unreachable" && due.type !== "lease_lost") return false;
  if (live?.state === "offered") {
    // Nor could the recipient take an offer, or accept it: these timers restart when the hub starts.
    const { offerMs, graceMs } = state.terms;
    const silentAt = openedAt + (live.isTaken ? graceMs : offerMs);
    if (transaction.at < silentAt) {
      const attempts = [...state.attempts.slice(0, -1), { ...live, silentAt }];
      transaction.amend({ state: { ...state, attempts } });
      return true;
    }
  }
  return transaction.decide({ type: due.type, attempt: due.attempt }) === 100;
}
