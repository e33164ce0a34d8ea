import type { HandoffEnvelope, StatusCode, VerifiedEnvelope } from "@waybill/protocol";
import type { Discard } from "@waybill/protocol/wire";
import { checkChild } from "../custody/admission.ts";
import type { AfterEnd } from "../custody/handoff-record.ts";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import type { TakenAttempt } from "./acceptance-timers.ts";
import { decideAcknowledged, decideEnvelope } from "./decide-envelope.ts";
import type { Acknowledged } from "./decide-envelope.ts";
import { decideDue, decideUnaccepted } from "./due-events.ts";
import type { Engine } from "./engine.ts";

/** What is to be decided about a handoff: an envelope of a party, or something that the hub has noticed. */
export type Change =
  | { readonly type: "envelope"; readonly verified: VerifiedEnvelope }
  /** Its delegator has acknowledged it together with others. */
  | ({ readonly type: "acknowledged" } & Acknowledged)
  /** A timer that the store had in this version has fired. */
  | { readonly type: "due"; readonly version: number }
  | { readonly type: "unaccepted"; readonly taken: TakenAttempt }
  /** An agent may have room for it. */
  | { readonly type: "offer_again" }
  | { readonly type: "parent_ended" | "group_decided" }
  | { readonly type: "discard"; readonly discard: Discard }
  | { readonly type: "child_submitted"; readonly child: HandoffEnvelope }
  | { readonly type: "replayed"; readonly by: string }
  /** This part of the work after its end is done. */
  | { readonly type: "followed_up"; readonly part: AfterEnd }
  /** Nothing changes: the current record is wanted. */
  | { readonly type: "none" };

type Decide = {
  readonly [Type in Change["type"]]: (
    transaction: HandoffTransaction,
    change: Extract<Change, { readonly type: Type }>,
    engine: Engine,
  ) => StatusCode | Promise<StatusCode> | void;
};

const DECIDE: Decide = {
  envelope: (transaction, { verified }, engine) => decideEnvelope(engine, transaction, verified),
  acknowledged: (transaction, acknowledged) => decideAcknowledged(transaction, acknowledged),
  due: (transaction, { version }, { openedAt }) => decideDue(transaction, version, openedAt),
  unaccepted: (transaction, { taken }, { openedAt }) =>
    decideUnaccepted(transaction, taken, openedAt),
  offer_again(transaction) {
    transaction.wantsOffer = transaction.record?.isWaiting === true;
  },
  parent_ended(transaction) {
    if (transaction.isOpen) transaction.decide({ type: "parent_ended" });
  },
  group_decided(transaction) {
    if (transaction.isOpen) transaction.decide({ type: "group_decided" });
  },
  discard(transaction, { discard: { reason, signed } }) {
    // The first reason stays on record.
    if (transaction.record!.state.isDiscarded) return 100;
    return transaction.decide({ type: "discard" }, { reason, signed });
  },
  child_submitted(transaction, { child }) {
    checkChild(child, transaction.record!);
    if (!transaction.record!.hasChildren) transaction.amend({ hasChildren: true });
  },
  replayed(transaction, { by }) {
    if (transaction.record?.replayedBy !== null) return;
    transaction.amend({ replayedBy: by });
    transaction.note({ type: "replayed", by });
  },
  followed_up(transaction, { part }) {
    const left = transaction.record?.afterEnd.filter((each) => each !== part) ?? [];
    transaction.amend({ afterEnd: left });
  },
  none: () => undefined,
};

/**
 * Decides about a change, in the transaction; returns the status for whoever asked. Returns a promise
 * only if something must be read.
 */
export function decide(
  engine: Engine,
  transaction: HandoffTransaction,
  change: Change,
): StatusCode | Promise<StatusCode> {
  const decideThis = DECIDE[change.type] as Decide["envelope"];
  return decideThis(transaction, change as Extract<Change, { type: "envelope" }>, engine) ?? 100;
}
