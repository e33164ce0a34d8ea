import type { HandoffEnvelope } from "@waybill/protocol";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import { envelopeEntry } from "../custody/entries.ts";
import type { Engine } from "./engine.ts";
import { whyWaiting, waitText } from "../routing/why-waiting.ts";
import { DECIDED_WITHOUT_IT, noticeOf, reasonOf } from "./notice.ts";

/**
 * Adds to the commit of an end what belongs to it: the hub's notice, and the work that remains after
 * it.
 */
export async function conclude(engine: Engine, transaction: HandoffTransaction): Promise<void> {
  const { state, hasChildren } = transaction.record!;
  if (state.outcome === null) {
    const handoff = await engine.records.handoffOf(transaction);
    const { key } = engine.options;
    const { newId: makeId, newSalt: makeSalt } = engine;
    const reason =
      transaction.lastMove === "group_decided"
        ? DECIDED_WITHOUT_IT
        : await reasonFor(engine, transaction, handoff);
    const notice = noticeOf(handoff, state, {
      hub: engine.id,
      key,
      now: transaction.at,
      newId: makeId,
      newSalt: makeSalt,
      reason,
    });
    const { digest, text } = notice;
    transaction.entries.push(envelopeEntry(transaction.at, notice));
    const isDeadLetter = state.state === "dead_lettered";
    transaction.amend({ notice: digest, ...(isDeadLetter && { reason }) });
    transaction.outgoing.push({
      type: "envelope",
      to: state.delegator,
      digest,
      text,
      at: transaction.at,
    });
  }
  if (mayDecideGroup(transaction)) transaction.addAfterEnd("group");
  if (hasChildren) transaction.addAfterEnd("children");
  if (state.delegator === engine.id) {
    const { outcome } = state;
    transaction.frame({
      type: "acknowledge",
      by: engine.id,
      outcome: outcome ?? transaction.record!.notice!,
      at: transaction.at,
    });
  } else if (state.state === "dead_lettered" && engine.options.deadLetterAgent !== undefined) {
    transaction.addAfterEnd("dead_letter");
  }
}

/** The reason in the notice: for a handoff that waited, the most relevant reason why it waited. */
async function reasonFor(
  engine: Engine,
  transaction: HandoffTransaction,
  handoff: HandoffEnvelope,
): Promise<string> {
  const { before } = transaction;
  const record = transaction.record!;
  const { state, cause } = record;
  // A delegator that has lost its permission is told so, whether or not the handoff waited.
  const isToldWhy = before?.isWaiting === true || state.status === 403;
  const waited =
    state.state === "dead_lettered" && isToldWhy
      ? waitText(await whyWaiting(engine, before ?? record, handoff, transaction.at))
      : undefined;
  return reasonOf(state, cause, waited);
}

/** A success can only decide a group that needs fewer than all; a failure only one that needs more than one. */
function mayDecideGroup({ record, lastMove }: HandoffTransaction): boolean {
  const { group, state } = record!;
  if (group === null || group.size === 1 || lastMove === "group_decided") return false;
  return group.join !== (state.state === "completed" ? "all" : "any");
}
