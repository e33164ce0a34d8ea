import { derivedId, WaybillError } from "@waybill/protocol";
import { commitOne } from "../commit-each.ts";
import { isAddressed } from "@waybill/protocol/hub";
import type { Envelope, HandoffEnvelope, StatusCode, VerifiedEnvelope } from "@waybill/protocol";
import { blobsIn } from "@waybill/protocol/wire";
import {
  checkAnswers,
  checkChild,
  checkFanOut,
  checkHeld,
  checkThread,
} from "../custody/admission.ts";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import { envelopeEntry } from "../custody/entries.ts";
import type { Decision } from "../custody/entries.ts";
import { refusal } from "../custody/refusal.ts";
import { checkInput } from "../routing/input-check.ts";
import type { BlobCustody } from "../blobs/custody.ts";
import { inCustodySpan } from "../tracing/custody-trace.ts";
import { bindTerms, offersFor } from "./terms.ts";
import { commitHandoff, currentRecord } from "./commit-handoff.ts";
import type { Engine } from "./engine.ts";
import { isParty } from "./view.ts";

/** Takes one envelope into custody, and returns the hub's receipt for it. */
export async function submit(engine: Engine, text: string): Promise<string> {
  engine.assertOpen();
  const verified = await engine.registry.verify(text, engine.clock.now());
  if (verified.envelope.kind !== "handoff") return commitEnvelope(engine, verified);
  const handoff = verified as VerifiedEnvelope<HandoffEnvelope>;
  return inCustodySpan(engine.id, handoff.envelope, () => takeHandoff(engine, handoff));
}

async function takeHandoff(
  engine: Engine,
  verified: VerifiedEnvelope<HandoffEnvelope>,
): Promise<string> {
  const { envelope } = verified;
  const { handoff_id: id, parent_id: parentId, replay_of: replayOf } = envelope;
  // A known handoff is not checked again: its sender should get the same answer as before.
  const isPlain = parentId === undefined && replayOf === undefined;
  if (isPlain && engine.records.cached(id) === undefined) return takeNew(engine, verified);
  if ((await engine.records.load(id)) !== undefined) {
    const receipt = await commitEnvelope(engine, verified);
    if (replayOf !== undefined) await markReplayed(engine, replayOf, id);
    return receipt;
  }
  let work = () => commitEnvelope(engine, verified, { isAbsent: true });
  if (replayOf !== undefined) {
    const inner = work;
    work = () => replay(engine, envelope, replayOf, inner);
  }
  if (parentId === id) throw new WaybillError(400, "A handoff can't be its own parent.");
  return parentId === undefined ? work() : asChild(engine, envelope, parentId, work);
}

/**
 * Assumes that a handoff without parent or original is new, without asking the store first: the
 * commit detects if it is not. A refusal counts only after the store has confirmed that it was not
 * taken before.
 */
async function takeNew(
  engine: Engine,
  verified: VerifiedEnvelope<HandoffEnvelope>,
): Promise<string> {
  try {
    return await commitEnvelope(engine, verified, { isAbsent: true });
  } catch (error) {
    const isRefusal = WaybillError.is(error) && error.status !== 503;
    const known = isRefusal && (await engine.records.load(verified.envelope.handoff_id));
    if (!known) throw error;
    return commitEnvelope(engine, verified);
  }
}

/** The key under which a parent's end waits for a child that is being submitted, so that it sees the child. */
export function childrenKey(parentId: string): string {
  return `children ${parentId}`;
}

/** Submits a child while its parent is known to be open, so that the parent's end reaches the child. */
async function asChild(
  engine: Engine,
  envelope: HandoffEnvelope,
  parentId: string,
  work: () => Promise<string>,
): Promise<string> {
  const before = await engine.records.load(parentId);
  // A sender that does not work on the parent learns no more than this, and not how many children it
  // has.
  checkHeld(envelope, parentId, before?.record);
  const receipt = await engine.records.queue.run(childrenKey(parentId), async () => {
    // A copy may have been submitted at the same time: both get the same answer.
    if ((await engine.records.load(envelope.handoff_id)) !== undefined) return work();
    await checkFanOut(engine.store, parentId, engine.limits);
    await commitHandoff(engine, parentId, (transaction) => {
      checkChild(envelope, transaction.record!);
      if (!transaction.record!.hasChildren) transaction.amend({ hasChildren: true });
    });
    return work();
  });
  // The parent may have ended at another hub meanwhile, without seeing this child.
  const parent = await currentRecord(engine, parentId);
  if (parent?.state.state !== "open") await endWithParent(engine, envelope.handoff_id);
  return receipt;
}

export async function endWithParent(engine: Engine, id: string): Promise<void> {
  await commitHandoff(engine, id, (transaction) => {
    if (transaction.isOpen) transaction.decide({ type: "parent_ended" });
  });
}

/** Only the delegator of an ended handoff and operators may replay it. */
async function replay(
  engine: Engine,
  envelope: HandoffEnvelope,
  replayOf: string,
  work: () => Promise<string>,
): Promise<string> {
  const original = (await engine.records.load(replayOf))?.record;
  const isOperator = engine.options.operators?.includes(envelope.from) === true;
  if (original === undefined || (original.state.delegator !== envelope.from && !isOperator)) {
    throw new WaybillError(
      403,
      `${envelope.from} may not replay ${replayOf}, if it exists: only its delegator and operators may.`,
      { at: "/replay_of" },
    );
  }
  if (original.state.state === "open") {
    throw new WaybillError(409, `The handoff ${replayOf} has not ended, so it can't be replayed.`, {
      at: "/replay_of",
    });
  }
  const receipt = await work();
  await markReplayed(engine, replayOf, envelope.handoff_id);
  return receipt;
}

async function markReplayed(engine: Engine, replayOf: string, by: string): Promise<void> {
  await commitHandoff(engine, replayOf, (transaction) => {
    if (transaction.record?.replayedBy !== null) return;
    transaction.amend({ replayedBy: by });
    transaction.note({ type: "replayed", by });
  });
}

interface CommitOptions {
  /** The store was asked a moment ago, and has no such handoff. */
  readonly isAbsent?: boolean;
}

/**
 * Commits an envelope together with the receipt for it. So a receipt that was sent is on record, and
 * costs no sync of its own. If a crash prevents its sending, it is still true.
 */
async function commitEnvelope(
  engine: Engine,
  verified: VerifiedEnvelope,
  { isAbsent = false }: CommitOptions = {},
): Promise<string> {
  const { envelope, digest } = verified;
  engine.assertOpen();
  const plan = (transaction: HandoffTransaction) => {
    const isNew = transaction.record === undefined && envelope.kind === "handoff";
    return isNew
      ? decideNew(engine, transaction, verified as VerifiedEnvelope<HandoffEnvelope>)
      : decide(engine, transaction, verified);
  };
  const changed = await commitHandoff(engine, envelope.handoff_id, plan, isAbsent);
  const status = changed.type === "changed" ? changed.value : (201 as const);
  if (changed.type === "replayed" && changed.digest !== digest) throw refusal(409, envelope);
  if (status === 100 && changed.type === "changed") return changed.transaction.receipt!.text;
  if (status === 201) return answerRepeated(engine, verified);
  throw refusal(status, envelope);
}

async function decideNew(
  engine: Engine,
  transaction: HandoffTransaction,
  verified: VerifiedEnvelope<HandoffEnvelope>,
): Promise<StatusCode> {
  const { envelope } = verified;
  const offers = await offersFor(verified, engine);
  await checkInput(envelope, offers, engine, transaction.at);
  const status = transaction.take(verified, bindTerms(envelope, offers, engine.terms));
  if (status !== 100) return status;
  await nameBlobs(engine, transaction, envelope);
  if (envelope.from !== engine.id) {
    transaction.change(
      ...(await engine.quotas.enter(envelope.from, envelope.handoff_id, transaction.at)),
    );
  }
  if (envelope.group !== undefined) {
    const members = await engine.handoffGroups.join(envelope, transaction.record!);
    // The group is decided already, so the first commit says that the handoff must end.
    if (members.isDecided()) transaction.addAfterEnd("group");
  }
  return status;
}

/** Returns a promise only if the envelope refers to blobs, or is refused. */
function decide(
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
  const status = isOfAnotherNotice(transaction, verified) ? 409 : transaction.take(verified);
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

/** Whether this acknowledges another notice than the one that ended the handoff. */
function isOfAnotherNotice(
  { record }: HandoffTransaction,
  { envelope }: VerifiedEnvelope,
): boolean {
  const isAcknowledgement = envelope.kind === "receipt" && envelope.body.status === 200;
  if (!isAcknowledgement || record === undefined) return false;
  const { state, notice } = record;
  if (state.state === "open" || state.delegator !== envelope.from) return false;
  return state.outcome === null && envelope.re !== notice;
}

/** Answers a repeated envelope: with its first refusal, or with one receipt for all repetitions. */
async function answerRepeated(engine: Engine, verified: VerifiedEnvelope): Promise<string> {
  const { envelope, digest } = verified;
  // The id is derived, so that the receipt is found however long the history is.
  const id = derivedId(`repeated ${digest}`, envelope.id);
  // Serialised, so that two concurrent repetitions don't put two receipts on record.
  return engine.records.queue.run(envelope.handoff_id, async () => {
    await checkTaken(engine, verified);
    const given = await receiptSentUnder(engine, id);
    if (given !== undefined) return given;
    const [receipt] = engine.receipts.sign([{ of: verified, status: 201, id }]);
    const outcome = await commitOne(engine.writer, {
      handoff: null,
      entries: [envelopeEntry(engine.clock.now(), receipt!)],
    });
    // Another hub with this id may have been first.
    const first = outcome.type === "replayed" ? await receiptSentUnder(engine, id) : undefined;
    return first ?? receipt!.text;
  });
}

/** The receipt that this hub has put on record under an id. */
async function receiptSentUnder(engine: Engine, id: string): Promise<string | undefined> {
  const seen = await engine.store.seen(engine.id, id);
  if (seen === undefined) return undefined;
  const [entry] = await engine.store.ledger({ after: seen.sequence - 1, limit: 1 });
  return entry?.content;
}

/** Throws the refusal that a late envelope got: the ledger has it right before the envelope. */
async function checkTaken(engine: Engine, { envelope, digest }: VerifiedEnvelope): Promise<void> {
  const { attempt = 0 } = envelope as { attempt?: number };
  const late = (await engine.records.load(envelope.handoff_id))?.record.late[attempt] ?? 0;
  const seen = late === 0 ? undefined : await engine.store.seen(envelope.from, envelope.id);
  if (seen === undefined || seen.sequence < 2) return;
  const [entry] = await engine.store.ledger({ after: seen.sequence - 2, limit: 1 });
  if (entry?.type !== "decision" || entry.handoffId !== envelope.handoff_id) return;
  const decision = JSON.parse(entry.content) as Decision;
  const isOfThis = decision.type === "refused" && decision.digest === digest;
  if (isOfThis) throw refusal(decision.status, envelope);
}
