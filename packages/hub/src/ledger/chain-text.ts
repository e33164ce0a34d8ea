import type { Digest } from "@waybill/protocol";
import type { LedgerEntry } from "../store.ts";

/**
 * Ten lines, each closed by a line feed, empty without a value, so that a shell with `printf` and
 * `sha256sum` can verify a ledger too. The content is bound by its digest, so that the cost of a link
 * does not depend on the size of an envelope. The digest of what is signed does not cover how: the last
 * line does, as header and signature with an empty payload between them (RFC 7515, appendix F).
 */
export function chainText(previous: Digest, entry: Omit<LedgerEntry, "hash">): string {
  const { sequence, at, type, handoffId, replayKey, digest, content } = entry;
  return (
    `waybill ledger entry 1\n${previous}\n${sequence}\n${timeText(at)}\n${type}\n` +
    `${handoffId ?? ""}\n${replayKey?.from ?? ""}\n${replayKey?.id ?? ""}\n${digest}\n` +
    `${type === "decision" ? "" : evidenceIn(content)}\n`
  );
}

function evidenceIn(jws: string): string {
  return `${jws.slice(0, jws.indexOf(".") + 1)}${jws.slice(jws.lastIndexOf("."))}`;
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
