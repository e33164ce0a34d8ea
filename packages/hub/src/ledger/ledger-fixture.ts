import { digestOf } from "@waybill/protocol";
import type { LedgerEntry, LedgerHead, NewEntry } from "../store.ts";
import { chainHash, EMPTY_LEDGER } from "./chain.ts";

export function chained(
  entries: readonly NewEntry[],
  from: LedgerHead = EMPTY_LEDGER,
): LedgerEntry[] {
  let { sequence, hash } = from;
  return entries.map((entry) => {
    const placed = { ...entry, sequence: ++sequence };
    hash = chainHash(hash, placed);
    return { ...placed, hash };
  });
}

export function newEntry(content: string, members: Partial<NewEntry> = {}): NewEntry {
  return {
    at: 1_700_000_000_000,
    handoffId: null,
    type: "decision",
    content,
    digest: digestOf(content),
    replayKey: null,
    ...members,
  };
}

/** A ledger of every type of entry. */
export function ledgerOfAll(count = 8): LedgerEntry[] {
  return chained(
    Array.from({ length: count }, (_, index) => {
      const at = 1_700_000_000_000 + index * 7;
      if (index % 4 === 3) return newEntry(`{"reason":"naïve \\"quotes\\" 🧾 ${index}"}`, { at });
      if (index % 4 === 2)
        return newEntry(`head.manifest${index}.signature`, { at, type: "manifest" });
      return newEntry(`head.payload${index}.signature`, {
        at,
        type: "envelope",
        handoffId: `handoff-${index % 3}`,
        replayKey: { from: `agent-${index % 2}`, id: `envelope-${index}` },
      });
    }),
  );
}
