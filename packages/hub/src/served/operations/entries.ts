import type { WireEntry } from "@waybill/protocol/wire";
import { ledgerLine } from "../../ledger/export.ts";
import type { LedgerEntry } from "../../store.ts";

export async function* linesOf(
  entries: AsyncIterable<LedgerEntry> | Iterable<LedgerEntry>,
): AsyncGenerator<string> {
  for await (const entry of entries) yield ledgerLine(entry);
}

export function writeEntry(entry: LedgerEntry): WireEntry {
  return JSON.parse(ledgerLine(entry)) as WireEntry;
}
