import type { WireEntry } from "@waybill/protocol/api";
import { ledgerLine } from "../../ledger/export.ts";
import type { LedgerEntry } from "../../store.ts";

const PAGE = 500;

type Read = (page: { after: number; limit: number }) => Promise<readonly LedgerEntry[]>;

export async function* entriesOf(read: Read, from: number): AsyncGenerator<LedgerEntry> {
  for (let after = from; ;) {
    const page = await read({ after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.sequence;
  }
}

export async function* linesOf(
  entries: AsyncIterable<LedgerEntry> | Iterable<LedgerEntry>,
): AsyncGenerator<string> {
  for await (const entry of entries) yield ledgerLine(entry);
}

export function writeEntry(entry: LedgerEntry): WireEntry {
  return JSON.parse(ledgerLine(entry)) as WireEntry;
}
