import { WaybillError } from "@waybill/protocol";
import { isAddressed } from "@waybill/protocol/hub";
import type {
  Digest,
  Envelope,
  HandoffEnvelope,
  StatusCode,
  VerifiedEnvelope,
} from "@waybill/protocol";
import { blobsIn } from "@waybill/protocol/wire";
import type { Discard } from "@waybill/protocol/wire";
import type { BlobCustody } from "../blobs/custody.ts";
import { checkAnswers, checkChild, checkThread } from "../custody/admission.ts";
import { ownersIn } from "../custody/handoff-record.ts";
import type { AfterEnd } from "../custody/handoff-record.ts";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import { checkInput } from "../routing/input-check.ts";
import type { TakenAttempt } from "./acceptance-timers.ts";
import { decideDue, decideUnaccepted } from "./due-events.ts";
import type { Engine } from "./engine.ts";
import { bindTerms, offeredFor } from "./terms.ts";
import { isParty } from "./view.ts";

/** What is to be decided about a handoff: an envelope of a party, or something that the hub has noticed. */
export type Change =
  | {
      readonly type: "envelope";
      readonly verified: VerifiedEnvelope;
      /** Its sender accepts a receipt that confirms several of its envelopes. */
      readonly sharesReceipt?: boolean;
    }
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

/** One of several handoffs that the envelope with the digest `in` acknowledges. */
export interface Acknowledged {
  readonly by: string;
  readonly outcome: Digest;
  readonly in: Digest;
}

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

/** Decides about an envelope of a party; returns the status for its sender. */
function decideEnvelope(
  engine: Engine,
  transaction: HandoffTransaction,
  verified: VerifiedEnvelope,
): StatusCode | Promise<StatusCode> {
  const isNew = transaction.record === undefined && verified.envelope.kind === "handoff";
  return isNew
    ? decideNew(engine, transaction, verified as VerifiedEnvelope<HandoffEnvelope>)
    : decideKnown(engine, transaction, verified);
}

async function decideNew(
  engine: Engine,
  transaction: HandoffTransaction,
  verified: VerifiedEnvelope<HandoffEnvelope>,
): Promise<StatusCode> {
  const { envelope } = verified;
  if (envelope.on_behalf_of !== undefined) await engine.access.checkMayActFor(envelope);
  const offered = await offeredFor(verified, engine);
  await checkInput(envelope, offered, engine, transaction.at);
  const status = transaction.apply(verified, bindTerms(envelope, offered, engine.terms));
  if (status !== 100) return status;
  await nameBlobs(engine, transaction, envelope);
  if (envelope.from !== engine.id) {
    transaction.change(
      ...(await engine.quotas.enter(ownersIn(envelope), envelope.handoff_id, transaction.at)),
    );
  }
  if (envelope.group !== undefined) {
    const members = await engine.handoffGroups.join(envelope, transaction.record!);
    // The group is decided already, so the first commit says that the handoff must end: due-timers.ts
    // ends it.
    if (members.isDecided()) transaction.addAfterEnd("group");
  }
  return status;
}

/** Returns a promise only if the envelope refers to blobs, or is refused. */
function decideKnown(
  engine: Engine,
  transaction: HandoffTransaction,
  verified: VerifiedEnvelope,
): StatusCode | Promise<StatusCode> {
  const { envelope } = verified;
  const { record } = transaction;
  // Knowing an id gives no rights: agents that are no party get the same answer whether or not it
  // exists.
  if (record === undefined || !isParty(record, envelope.from)) return 403;
  if (!isAddressed(envelope, record.state, engine.id)) return 403;
  if (transaction.isOpen && transaction.at >= record.state.deadline)
    transaction.decide({ type: "expire" });
  const isAcknowledgement = envelope.kind === "receipt" && envelope.body.status === 200;
  const isOther = isAcknowledgement && isOfAnotherNotice(transaction, envelope.from, envelope.re);
  const status = isOther ? 409 : transaction.apply(verified);
  // Only a party gets more than a 403. What strangers send is not put on record.
  if (status === 403) return status;
  if (status !== 100) return refuse(engine, transaction, verified, status);
  checkThread(envelope, record);
  checkAnswers(transaction, engine.limits);
  return nameBlobs(engine, transaction, envelope)?.then(() => status) ?? status;
}

/** A repeated envelope gets its first answer; a late one is put on record. */
async function refuse(
  engine: Engine,
  transaction: HandoffTransaction,
  verified: VerifiedEnvelope,
  status: StatusCode,
): Promise<StatusCode> {
  const { envelope, digest } = verified;
  const seen = await engine.store.seen(envelope.from, envelope.id);
  if (seen !== undefined) return seen.digest === digest ? 201 : 409;
  if (status === 410) transaction.refuse(verified, status);
  return status;
}

/** A replay may refer to the blobs of the original handoff, whoever has uploaded them. */
function nameBlobs(
  engine: Engine,
  transaction: HandoffTransaction,
  envelope: Envelope,
): Promise<void> | undefined {
  const [first] = blobsIn(envelope);
  if (first === undefined) return undefined;
  if (engine.blobs === undefined) {
    throw new WaybillError(
      422,
      "This hub stores no blobs. Send the content in the envelope (data), or as a URL (url).",
      { at: first.at },
    );
  }
  return nameOnRecord(engine, engine.blobs, transaction, envelope);
}

async function nameOnRecord(
  engine: Engine,
  blobs: BlobCustody,
  transaction: HandoffTransaction,
  envelope: Envelope,
): Promise<void> {
  const replayOf = envelope.kind === "handoff" ? envelope.replay_of : undefined;
  const original = replayOf === undefined ? undefined : await engine.records.load(replayOf);
  await blobs.name(transaction, envelope, original?.record);
}

/** Decides about one handoff of an acknowledgement of several; returns its status. */
export function decideAcknowledged(
  transaction: HandoffTransaction,
  { by, outcome, in: list }: Acknowledged,
): StatusCode {
  if (isOfAnotherNotice(transaction, by, outcome)) return 409;
  return transaction.decide({ type: "acknowledge", by, outcome, in: list });
}

/** Whether this acknowledges another notice than the one that ended the handoff. */
function isOfAnotherNotice({ record }: HandoffTransaction, by: string, re: Digest): boolean {
  if (record === undefined) return false;
  const { state, notice } = record;
  if (state.state === "open" || state.delegator !== by) return false;
  return state.outcome === null && re !== notice;
}
