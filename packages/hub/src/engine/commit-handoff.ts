import { isOfferDue } from "@waybill/protocol/hub";
import type { StatusCode } from "@waybill/protocol";
import type { Outcome } from "@waybill/protocol/hub";
import { ownersOf } from "../custody/handoff-record.ts";
import type { Written } from "../custody/handoff-records.ts";
import type { HandoffRecord } from "../custody/handoff-record.ts";
import { HandoffTransaction } from "../custody/handoff-transaction.ts";
import type { StoredHandoff } from "../store.ts";
import type { Committed } from "./committed.ts";
import { conclude } from "./conclude.ts";
import { decide } from "./decide.ts";
import type { Change } from "./decide.ts";
import type { Engine } from "./engine.ts";
import { onConflict, resolveUnknownCommit } from "./other-hubs.ts";

/**
 * The path of every change of a handoff: load, decide, match and sign, commit, deliver. Changes of
 * one handoff are serialised. `isAbsent`: the store was asked a moment ago and has no such handoff;
 * if that has changed, the commit conflicts.
 */
export function commitHandoff(
  engine: Engine,
  id: string,
  change: Change,
  isAbsent: boolean = false,
): Promise<Committed> {
  const { records, clock } = engine;
  const sharesReceipt = change.type === "envelope" && change.sharesReceipt === true;
  return records.queue.run(id, async () => {
    for (let isFirst = true; ; isFirst = false) {
      const held = records.cached(id);
      const before = held ?? (isFirst && isAbsent ? undefined : await records.load(id));
      const transaction = new HandoffTransaction(before, clock.now());
      let status: StatusCode;
      let written: Written;
      try {
        // Waits only if something must be read; usually everything is in memory.
        const decided = decide(engine, transaction, change);
        status = typeof decided === "number" ? decided : await decided;
        if (setsOff(transaction)) await match(engine, transaction);
        written = await engine.groupCommit.commit({ id, before, transaction, sharesReceipt });
      } catch (error) {
        release(engine, transaction);
        throw error;
      }
      if (written.type === "committed") {
        const delivering = deliver(engine, transaction, written.stored);
        if (delivering !== undefined) await delivering;
      }
      if (written.type === "committed" || written.type === "unchanged") {
        return { type: "changed", status, transaction };
      }
      if (written.type === "unknown") onCommitUnknown(engine, written.stored);
      release(engine, transaction);
      if (written.type === "unknown") throw written.error;
      await onConflict(engine, id, before);
      if (written.type === "replayed") return written;
      // Another hub has written first: this is decided again, from the new record.
    }
  });
}

/** The record in the store, including changes of other hubs that were not announced yet. */
export async function currentRecord(
  engine: Engine,
  id: string,
): Promise<HandoffRecord | undefined> {
  const committed = await commitHandoff(engine, id, { type: "none" });
  return committed.type === "changed" ? committed.transaction.record : undefined;
}

/** Whether anything follows from a decision. */
function setsOff({
  record,
  isChanged,
  wantsOffer,
  hasEnded,
  isOpen,
  at,
}: HandoffTransaction): boolean {
  if (record === undefined || (!isChanged && !wantsOffer)) return false;
  const isDue = isOpen && isOfferDue(record.state, at);
  return isDue || hasEnded || record.isWaiting || record.blobs !== undefined;
}

/** Adds to the transaction what follows from a decision: an offer or a wait, the end's notice, its blobs. */
async function match(engine: Engine, transaction: HandoffTransaction): Promise<void> {
  const { isOpen, at } = transaction;
  const record = transaction.record!;
  if (isOpen && isOfferDue(record.state, at)) await engine.dispatcher.dispatch(transaction);
  else if (record.isWaiting) engine.dispatcher.waitUntilDue(record, at);
  if (transaction.hasEnded) await conclude(engine, transaction);
  if (transaction.record!.blobs !== undefined) await engine.blobs?.bind(transaction);
}

/** Releases what was reserved for a transaction that is not on disk. */
function release(engine: Engine, transaction: HandoffTransaction): void {
  const { state } = transaction.record ?? {};
  if (state === undefined) return;
  if (transaction.before === undefined) {
    engine.quotas.leave(ownersOf(transaction.record!), state.id);
    engine.handoffGroups.left(transaction.record!);
  }
  for (const each of transaction.outgoing) {
    if (each.type !== "offer") continue;
    const agent = engine.agentSessions.get(each.to);
    if (agent?.heldAttempt(state.id) === each.attempt) agent.drop(state.id);
  }
}

/**
 * The transaction is on disk: sends its messages, and triggers its consequences. Returns a promise
 * only if what is to be sent must be read.
 */
export function deliver(
  engine: Engine,
  transaction: HandoffTransaction,
  stored: StoredHandoff,
): Promise<unknown> | undefined {
  const { record, before, at } = transaction;
  if (record === undefined) return undefined;
  engine.openHandoffs.note(stored);
  engine.handoffGroups.note({ version: stored.version, record });
  if (before === undefined) {
    engine.quotas.settled(stored.id);
    engine.handoffGroups.joined(record);
  }
  // What is due only later, such as another attempt, goes on in due-timers.ts.
  engine.timers.note(stored.wakeAt);
  if (transaction.isChanged) engine.acceptanceTimers.forget(stored.id);
  engine.dispatcher.onCommitted(transaction, stored);
  if (transaction.hasEnded) {
    if (record.blobs !== undefined) engine.blobs?.ended(at);
    engine.log({ event: "ended", handoffId: stored.id, status: record.state.status });
  }
  // Delivering removes what a recipient held, which includes how long it took.
  const outcomes = outcomesOf(engine, transaction);
  const sending = engine.deliveries.send(record, transaction.outgoing)?.catch((error: unknown) => {
    // It stays in its recipient's inbox.
    engine.log({ event: "failure", handoffId: stored.id, error });
  });
  for (const outcome of outcomes) {
    engine.inBackground(measure(engine, record.capability, outcome));
  }
  return sending;
}

/** Whether it was written is not known. Its sender finds out by sending again; nobody acts on it before. */
export function onCommitUnknown(engine: Engine, stored: StoredHandoff | undefined): void {
  if (stored === undefined) return;
  engine.timers.note(stored.wakeAt);
  engine.dispatcher.noteUnknownCommit(stored);
  engine.inBackground(
    engine.records.queue.run(stored.id, () => resolveUnknownCommit(engine, stored)),
  );
}

type RecipientOutcome = Outcome & { readonly recipient: string };

/**
 * The outcomes of the attempts that this closes, with what only the recipient's session knows about
 * each.
 */
function outcomesOf(engine: Engine, transaction: HandoffTransaction): RecipientOutcome[] {
  const { state, asked } = transaction.record!;
  return transaction.outcomes().map((outcome) => {
    const agent = engine.agentSessions.get(outcome.recipient);
    const isHeld = agent?.heldAttempt(state.id) !== undefined;
    const heldMs = agent?.heldMs(state.id);
    // Waiting for a person's answer does not count as slowness.
    const tookMs = asked.length > 0 ? undefined : heldMs;
    return { ...outcome, isCrash: !isHeld, tookMs };
  });
}

async function measure(
  engine: Engine,
  capability: string,
  { recipient, ...outcome }: RecipientOutcome,
): Promise<void> {
  const isBack = await engine.measured.record(recipient, capability, outcome);
  engine.attachedCapabilities.noteOutcome(recipient, capability);
  if (isBack) engine.dispatcher.reconsiderAgent(recipient, `capability:${capability}`);
}
