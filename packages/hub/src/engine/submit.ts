import { WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope, VerifiedEnvelope } from "@waybill/protocol";
import { checkFanOut, checkHeld } from "../custody/admission.ts";
import { refusal } from "../custody/refusal.ts";
import { inCustodySpan } from "../tracing/custody-trace.ts";
import { acknowledge, isList } from "./acknowledge.ts";
import { commitHandoff, currentRecord } from "./commit-handoff.ts";
import type { Engine } from "./engine.ts";
import { confirmAlone } from "./repetition.ts";

/**
 * Takes one envelope into custody, and returns the hub's receipt for it. The agent `as` gets one
 * receipt for several of its own envelopes. Nobody else does: a receipt for several names handoffs
 * that are not the business of whoever carries one of them.
 */
export async function submit(engine: Engine, text: string, as?: string): Promise<string> {
  engine.assertOpen();
  const verified = await engine.registry.verify(text, engine.clock.now());
  if (isList(verified)) return acknowledge(engine, verified);
  const options = { sharesReceipt: verified.envelope.from === as };
  if (verified.envelope.kind !== "handoff") return commitEnvelope(engine, verified, options);
  const handoff = verified as VerifiedEnvelope<HandoffEnvelope>;
  return inCustodySpan(engine.id, handoff.envelope, () => submitHandoff(engine, handoff, options));
}

async function submitHandoff(
  engine: Engine,
  verified: VerifiedEnvelope<HandoffEnvelope>,
  options: CommitOptions,
): Promise<string> {
  const { envelope } = verified;
  const { handoff_id: id, parent_id: parentId, replay_of: replayOf } = envelope;
  // A known handoff is not checked again: its sender should get the same answer as before.
  const isPlain = parentId === undefined && replayOf === undefined;
  if (isPlain && engine.records.cached(id) === undefined)
    return submitNew(engine, verified, options);
  if ((await engine.records.load(id)) !== undefined) {
    const receipt = await commitEnvelope(engine, verified, options);
    if (replayOf !== undefined) await markReplayed(engine, replayOf, id);
    return receipt;
  }
  let work = () => commitEnvelope(engine, verified, { ...options, isAbsent: true });
  if (replayOf !== undefined) {
    const inner = work;
    work = () =>
      engine.records.queue.run(`replay ${replayOf}`, () =>
        replay(engine, envelope, replayOf, inner),
      );
  }
  if (parentId === id) throw new WaybillError(400, "A handoff can't be its own parent.");
  return parentId === undefined ? work() : asChild(engine, envelope, parentId, work);
}

/**
 * Assumes that a handoff without parent or original is new, without asking the store first: the
 * commit detects if it is not. A refusal counts only after the store has confirmed that it was not
 * in custody before.
 */
async function submitNew(
  engine: Engine,
  verified: VerifiedEnvelope<HandoffEnvelope>,
  options: CommitOptions,
): Promise<string> {
  try {
    return await commitEnvelope(engine, verified, { ...options, isAbsent: true });
  } catch (error) {
    const isRefusal = WaybillError.is(error) && error.status !== 503;
    const known = isRefusal && (await engine.records.load(verified.envelope.handoff_id));
    if (!known) throw error;
    return commitEnvelope(engine, verified, options);
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
    await commitHandoff(engine, parentId, { type: "child_submitted", child: envelope });
    return work();
  });
  // The parent may have ended at another hub meanwhile, without seeing this child.
  const parent = await currentRecord(engine, parentId);
  if (parent?.state.state !== "open") await endWithParent(engine, envelope.handoff_id);
  return receipt;
}

export async function endWithParent(engine: Engine, id: string): Promise<void> {
  await commitHandoff(engine, id, { type: "parent_ended" });
}

/**
 * Only the delegator of an ended handoff and operators' agents may replay it. The latter replay it
 * once: two of them may look at the same list of dead letters.
 */
async function replay(
  engine: Engine,
  envelope: HandoffEnvelope,
  replayOf: string,
  work: () => Promise<string>,
): Promise<string> {
  const original = (await engine.records.load(replayOf))?.record;
  const { from } = envelope;
  const isDelegator = original?.state.delegator === from;
  if (original === undefined || (!isDelegator && !(await engine.access.isOperators(from)))) {
    throw new WaybillError(
      403,
      `${from} may not replay ${replayOf}, if it exists: only its delegator and operators' agents may. To make ${from} an operators' agent: waybill groups add operators ${from}`,
      { at: "/replay_of" },
    );
  }
  if (original.state.state === "open") {
    throw new WaybillError(409, `The handoff ${replayOf} has not ended, so it can't be replayed.`, {
      at: "/replay_of",
    });
  }
  if (!isDelegator && original.replayedBy !== null) {
    throw new WaybillError(
      409,
      `The handoff ${replayOf} was replayed before, as ${original.replayedBy}. If that one failed too, replay that one.`,
      { at: "/replay_of" },
    );
  }
  const receipt = await work();
  await markReplayed(engine, replayOf, envelope.handoff_id);
  return receipt;
}

async function markReplayed(engine: Engine, replayOf: string, by: string): Promise<void> {
  await commitHandoff(engine, replayOf, { type: "replayed", by });
}

interface CommitOptions {
  /** Its sender accepts a receipt that confirms several of its envelopes. */
  readonly sharesReceipt: boolean;
  /** The store was asked a moment ago, and has no such handoff. */
  readonly isAbsent?: boolean;
}

/**
 * Commits an envelope together with the receipt for it. So a receipt that was sent is on record, and
 * costs no sync of its own. If a crash prevents its sending, it is still true. A receipt for several
 * is not written if one of them is not: each of the others then gets one of its own.
 */
async function commitEnvelope(
  engine: Engine,
  verified: VerifiedEnvelope,
  { isAbsent = false, sharesReceipt }: CommitOptions,
): Promise<string> {
  const { envelope, digest } = verified;
  engine.assertOpen();
  const change = { type: "envelope", verified, sharesReceipt } as const;
  const changed = await commitHandoff(engine, envelope.handoff_id, change, isAbsent);
  const status = changed.type === "changed" ? changed.status : (201 as const);
  if (changed.type === "replayed" && changed.digest !== digest) throw refusal(409, envelope);
  if (status === 100 && changed.type === "changed") {
    const { receipt } = changed.transaction;
    return receipt === undefined ? confirmAlone(engine, verified, 100) : receipt.text;
  }
  if (status === 201) return confirmAlone(engine, verified, 201);
  throw refusal(status, envelope);
}
