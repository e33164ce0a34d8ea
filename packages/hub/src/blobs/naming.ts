import type { Envelope } from "@waybill/protocol";
import { blobKeptUntil, blobsIn, checkNamedBlob } from "@waybill/protocol/wire";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import type { HandoffRecord } from "../custody/handoff-record.ts";
import type { BlobContext } from "./context.ts";
import type { BlobRights } from "./rights.ts";
import { BLOB_ROWS, handoffDue, hexOf } from "./rows.ts";
import { stayed } from "./uploads.ts";

/**
 * Checks the blobs that an envelope refers to, and adds them to the commit that takes it. That commit
 * conflicts if one of them is removed meanwhile, and is decided again. `original` is what the handoff
 * replays.
 */
export async function nameBlobs(
  rights: BlobRights,
  transaction: HandoffTransaction,
  envelope: Envelope,
  original: HandoffRecord | undefined,
): Promise<void> {
  const blobs = new Set(transaction.record!.blobs);
  for (const named of blobsIn(envelope)) {
    const hex = hexOf(named.digest);
    const { text, row } = await rights.upload(hex, envelope.from);
    const isUploaded = row !== undefined && row.file === undefined;
    const mayName =
      isUploaded ||
      (await rights.isReader(hex, envelope.from)) ||
      original?.blobs?.includes(hex) === true;
    const blob = mayName ? await rights.blob(hex) : undefined;
    checkNamedBlob(named, blob?.row.size);
    transaction.change(stayed(BLOB_ROWS.blob(hex), blob!.text));
    if (isUploaded) {
      // From now on the sender's right comes from the handoff.
      transaction.change({ name: BLOB_ROWS.upload(hex, envelope.from), from: text, to: null });
      transaction.change(...(await rights.withoutDue(hex, envelope.from, row)));
    }
    blobs.add(hex);
  }
  if (blobs.size > (transaction.record!.blobs?.length ?? 0))
    transaction.amend({ blobs: [...blobs] });
}

/**
 * Adds to the commit who may read the blobs of the handoff, and, at its end, until when they are kept
 * for it.
 */
export async function bindBlobs(
  { store, limits }: Pick<BlobContext, "store" | "limits">,
  transaction: HandoffTransaction,
): Promise<void> {
  const { before } = transaction;
  const record = transaction.record!;
  const known = new Set(before === undefined ? [] : readersOf(before));
  for (const reader of readersOf(record)) {
    if (known.has(reader)) continue;
    transaction.change({ name: reader, from: (await store.setting(reader)) ?? null, to: "" });
  }
  if (!transaction.hasEnded || record.blobs === undefined) return;
  const due = blobKeptUntil(transaction.at, limits.blobKeptMs)!;
  for (const hex of record.blobs) {
    transaction.change({
      name: BLOB_ROWS.due(due, hex, handoffDue(record.state.id)),
      from: null,
      to: "",
    });
  }
}

/** The rows that let the parties of a handoff read its blobs. */
export function readersOf({ state, blobs = [] }: HandoffRecord): string[] {
  const recipients = state.attempts.map(({ recipient }) => recipient);
  const parties = new Set([state.delegator, ...recipients]);
  return blobs.flatMap((hex) =>
    [...parties].map((agent) => BLOB_ROWS.reader(hex, agent, state.id)),
  );
}
