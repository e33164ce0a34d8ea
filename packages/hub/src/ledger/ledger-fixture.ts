import { digestOf, digestOfJws, privateKeyFrom, signCompact } from "@waybill/protocol";
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
    digest: members.type === undefined ? digestOf(content) : digestOfJws(content),
    replayKey: null,
    ...members,
  };
}

const KEY = privateKeyFrom(new Uint8Array(32).fill(1));

/** Signed alone; the ledger does not read what it says. */
export function signedText(payload: string): string {
  return signCompact(JSON.stringify(payload), KEY);
}

/** A ledger of every type of entry. */
export function ledgerOfAll(count = 8): LedgerEntry[] {
  return chained(
    Array.from({ length: count }, (_, index) => {
      const at = 1_700_000_000_000 + index * 7;
      if (index % 4 === 3) return newEntry(`{"reason":"naïve \\"quotes\\" 🧾 ${index}"}`, { at });
      if (index % 4 === 2)
        return newEntry(signedText(`manifest ${index}`), { at, type: "manifest" });
      return newEntry(signedText(`payload ${index}`), {
        at,
        type: "envelope",
        handoffId: `handoff-${index % 3}`,
        replayKey: { from: `agent-${index % 2}`, id: `envelope-${index}` },
      });
    }),
  );
}
