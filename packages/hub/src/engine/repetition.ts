import { derivedId } from "@waybill/protocol";
import type { VerifiedEnvelope } from "@waybill/protocol";
import { commitOne } from "../commit-each.ts";
import { envelopeEntry } from "../custody/entries.ts";
import type { Decision } from "../custody/entries.ts";
import { refusal } from "../custody/refusal.ts";
import type { Engine } from "./engine.ts";

/**
 * Answers an envelope that is on record without a receipt at hand: with its first refusal, or with
 * one receipt for it and all its repetitions.
 */
export async function confirmAlone(
  engine: Engine,
  verified: VerifiedEnvelope,
  status: 100 | 201,
): Promise<string> {
  const { envelope, digest } = verified;
  // The id is derived, so that the receipt is found however long the history is.
  const id = derivedId(`repeated ${digest}`, envelope.id);
  // Serialised, so that two concurrent repetitions don't put two receipts on record.
  return engine.records.queue.run(envelope.handoff_id, async () => {
    await checkTaken(engine, verified);
    const given = await receiptSentUnder(engine, id);
    if (given !== undefined) return given;
    const [receipt] = engine.receipts.sign([{ of: verified, status, id }]);
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
export async function receiptSentUnder(engine: Engine, id: string): Promise<string | undefined> {
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
