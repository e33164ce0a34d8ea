import { dueEvent, liveAttempt } from "@waybill/protocol/hub";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import { decisionEntry } from "../custody/entries.ts";
import type { StoredHandoff } from "../store.ts";
import { commitHandoff } from "./commit-handoff.ts";
import type { Engine } from "./engine.ts";
import { runAfterEnd } from "./after-end.ts";
import type { TakenAttempt } from "./acceptance-timers.ts";

/** What the clock has made due, and what was left undone when a hub went down. */
export function applyDueTimers(engine: Engine, { id, version }: StoredHandoff): Promise<void> {
  return applyTimers(engine, id, (transaction) => {
    const { record } = transaction;
    applyDueEvents(transaction, engine.openedAt);
    // A frame has moved its time on, in memory alone; where another hub was first, nothing is left.
    const isStale = record === transaction.record && transaction.version === version;
    if (isStale && record!.afterEnd.length === 0) transaction.isForced = true;
  });
}

/** The grace of an attempt that was taken is over: what is not accepted by now is lost. */
export function expireAcceptance(
  engine: Engine,
  id: string,
  { by, attempt, at }: TakenAttempt,
): Promise<void> {
  return applyTimers(engine, id, (transaction) => {
    const frame = { type: "taken", by, attempt, at } as const;
    // Where another hub has written since, the frame is in no record any more.
    if (transaction.frame(frame) === 100) transaction.entries.push(decisionEntry(at, id, frame));
    applyDueEvents(transaction, engine.openedAt);
  });
}

async function applyTimers(
  engine: Engine,
  id: string,
  plan: (transaction: HandoffTransaction) => void,
): Promise<void> {
  const changed = await commitHandoff(engine, id, (transaction) => {
    if (transaction.record === undefined) return [];
    plan(transaction);
    if (transaction.isOpen) transaction.wantsOffer = true;
    return transaction.record.afterEnd;
  });
  if (changed.type === "changed" && changed.value.length > 0) {
    await runAfterEnd(engine, id);
  }
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
    // While no hub was there to hear it, silence was not the recipient's: one more lease.
    const { recipient: by, number: attempt } = live;
    return transaction.frame({ type: "heartbeat", by, attempt, at: transaction.at }) === 100;
  }
  if (due.type === "expire") return transaction.decide({ type: "expire" }) === 100;
  if (due.type !== "unreachable" && due.type !== "lease_lost") return false;
  if (live?.state === "offered") {
    // Nor could it take an offer, or accept what it took: that has its whole time from the start on.
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
