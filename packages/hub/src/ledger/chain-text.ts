import type { Digest } from "@waybill/protocol";
import type { LedgerEntry } from "../store.ts";

/**
 * Nine lines, each closed by a line feed, empty without a value, so that a shell with `printf` and
 * `sha256sum` can verify a ledger too. The content is bound by its digest, so that the cost of a link
 * does not depend on the size of an envelope.
 */
export function chainText(previous: Digest, entry: Omit<LedgerEntry, "hash">): string {
  const { sequence, at, type, handoffId, replayKey, digest } = entry;
  return (
    `waybill ledger entry 1\n${previous}\n${sequence}\n${timeText(at)}\n${type}\n` +
    `${handoffId ?? ""}\n${replayKey?.from ?? ""}\n${replayKey?.id ?? ""}\n${digest}\n`
  );
}

let lastAt = Number.NaN;
let lastText = "";

/** A time in the form of the export. The entries of a commit share theirs, and formatting is costly. */
export function timeText(at: number): string {
  if (at !== lastAt) {
    lastText = new Date(at).toISOString();
    lastAt = at;
  }
  return lastText;
}
