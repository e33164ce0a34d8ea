import { derivedId } from "@waybill/protocol";
import type {
  ListedHandoff,
  ReceiptEnvelope,
  RefusedHandoff,
  StatusCode,
  VerifiedEnvelope,
} from "@waybill/protocol";
import { commitOne } from "../commit-each.ts";
import { checkThread } from "../custody/admission.ts";
import { entryApart } from "../custody/entries.ts";
import type { HandoffRecord } from "../custody/handoff-record.ts";
import { HandoffTransaction } from "../custody/handoff-transaction.ts";
import { refusal } from "../custody/refusal.ts";
import { commitHandoff, currentRecord } from "./commit-handoff.ts";
import { decideAcknowledged } from "./decide.ts";
import type { Acknowledged } from "./decide.ts";
import type { Engine } from "./engine.ts";
import { receiptSentUnder } from "./repetition.ts";

export type VerifiedList = VerifiedEnvelope<ReceiptEnvelope>;

/** Whether an envelope acknowledges several handoffs. */
export function isList(verified: VerifiedEnvelope): verified is VerifiedList {
  const { kind, body } = verified.envelope;
  return kind === "receipt" && body.status === 200 && body.also !== undefined;
}

/**
 * Takes an acknowledgement of several handoffs, and returns the receipt, which names those that are
 * refused. Three commits after one another: the envelope, what follows for each handoff, the receipt.
 * After a crash between them the sender has no receipt and sends the same envelope again, which does
 * what is left.
 */
export function acknowledge(engine: Engine, list: VerifiedList): Promise<string> {
  engine.assertOpen();
  // Serialised, so that a concurrent copy is a repetition.
  return engine.records.queue.run(`list ${list.digest}`, () => acknowledgeEach(engine, list));
}

async function acknowledgeEach(engine: Engine, list: VerifiedList): Promise<string> {
  const { envelope } = list;
  await checkOwn(engine, envelope);
  const listed = handoffsIn(envelope);
  const expected = await Promise.all(listed.map((each) => expectedFor(engine, list, each)));
  if (expected.every(isRefused)) throw refusal(expected[0]!, envelope);
  const isNew = await putOnRecord(engine, list, expected.includes(100));
  const answers = await Promise.all(
    listed.map(async (each, index) =>
      expected[index] === 100 ? settle(engine, list, each) : expected[index]!,
    ),
  );
  const refused = listed.flatMap(({ handoff_id }, index) =>
    isRefused(answers[index]!) ? [{ handoff_id, status: answers[index]! }] : [],
  );
  return confirm(engine, list, isNew ? 100 : 201, refused);
}

function handoffsIn({ handoff_id, re, body }: ReceiptEnvelope): readonly ListedHandoff[] {
  return [{ handoff_id, re }, ...(body.also ?? [])];
}

function isRefused(status: StatusCode): boolean {
  return status >= 300;
}

function acknowledgedBy({ envelope, digest }: VerifiedList, re: ListedHandoff["re"]) {
  return { by: envelope.from, outcome: re, in: digest } satisfies Acknowledged;
}

/** The handoff that the envelope is about is its sender's, like that of any other envelope on record. */
async function checkOwn(engine: Engine, envelope: ReceiptEnvelope): Promise<void> {
  const own = (await engine.records.load(envelope.handoff_id))?.record;
  const isOwn = own !== undefined && own.state.delegator === envelope.from;
  if (!isOwn || envelope.to !== engine.id) throw refusal(403, envelope);
  checkThread(envelope, own);
}

/** The answer for one handoff, without changing it. */
async function expectedFor(
  engine: Engine,
  list: VerifiedList,
  { handoff_id: id, re }: ListedHandoff,
): Promise<StatusCode> {
  const answer = (record: HandoffRecord | undefined) => {
    const before = record === undefined ? undefined : { version: 0, record };
    const transaction = new HandoffTransaction(before, engine.clock.now());
    return decideAcknowledged(transaction, acknowledgedBy(list, re));
  };
  const status = answer((await engine.records.load(id))?.record);
  // Another hub on the same store may know more than this one has in memory.
  return isRefused(status) ? answer(await currentRecord(engine, id)) : status;
}

/** Puts the envelope on record, if it is new and changes anything; returns whether it is new. */
async function putOnRecord(
  engine: Engine,
  list: VerifiedList,
  doesChange: boolean,
): Promise<boolean> {
  const { envelope, digest } = list;
  let known = (await engine.store.seen(envelope.from, envelope.id))?.digest;
  if (known === undefined && doesChange) {
    const entries = [entryApart(engine.clock.now(), list)];
    const outcome = await commitOne(engine.writer, { handoff: null, entries });
    if (outcome.type !== "replayed") return true;
    known = outcome.digest;
  }
  if (known !== undefined && known !== digest) throw refusal(409, envelope);
  return false;
}

async function settle(
  engine: Engine,
  list: VerifiedList,
  { handoff_id: id, re }: ListedHandoff,
): Promise<StatusCode> {
  const change = { type: "acknowledged", ...acknowledgedBy(list, re) } as const;
  const committed = await commitHandoff(engine, id, change);
  return committed.type === "changed" ? committed.status : 409;
}

/** One receipt for all repetitions, found by its derived id. */
async function confirm(
  engine: Engine,
  list: VerifiedList,
  status: 100 | 201,
  refused: readonly RefusedHandoff[],
): Promise<string> {
  const repeated = derivedId(`repeated ${list.digest}`, list.envelope.id);
  const id = status === 100 ? engine.newId() : repeated;
  const given = status === 100 ? undefined : await receiptSentUnder(engine, id);
  if (given !== undefined) return given;
  const [receipt] = engine.receipts.sign([{ of: list, status, id, refused }]);
  const entries = [entryApart(engine.clock.now(), receipt!)];
  const outcome = await commitOne(engine.writer, { handoff: null, entries });
  const first = outcome.type === "replayed" ? await receiptSentUnder(engine, id) : undefined;
  return first ?? receipt!.text;
}
