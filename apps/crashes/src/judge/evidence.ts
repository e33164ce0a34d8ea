import { ledgerEntries, ledgerHistory, verifyLedger } from "@waybill/hub";
import type { LedgerReport } from "@waybill/hub";
import type { StoredHandoff } from "@waybill/hub/store";
import { digestOfJws, parseEnvelope, readCompact } from "@waybill/protocol";
import type { HistoryEntry } from "@waybill/protocol/audit";
import { openSqliteStore } from "@waybill/store-sqlite";
import { DELEGATOR } from "../plan/plan.ts";
import { folderAt } from "../process/folder.ts";
import type { AppliedLine, EffectLine, KeptLine, ReceiptLine } from "../process/folder.ts";
import { Journal } from "../process/journal.ts";

/** Everything that a run has left on disk. */
export interface Evidence {
  readonly kept: readonly KeptLine[];
  readonly applied: readonly AppliedLine[];
  readonly effects: readonly EffectLine[];
  /** The ledger merged with what was observed outside the hub, by time. */
  readonly history: readonly HistoryEntry[];
  readonly ledger: LedgerReport;
  /**
   * Every handoff in custody that belongs to this run, by id: those kept before sending, and their
   * children.
   */
  readonly handoffs: ReadonlyMap<string, StoredHandoff>;
  /** Handoffs whose end the delegator would receive again. */
  readonly unacknowledged: readonly string[];
}

const PAGE = 1_000;

export async function readEvidence(path: string): Promise<Evidence> {
  const folder = folderAt(path);
  const kept = readJournal<KeptLine>(folder.kept);
  const applied = readJournal<AppliedLine>(folder.applied);
  const effects = readJournal<EffectLine>(folder.effects);
  const receipts = readJournal<ReceiptLine>(folder.receipts);
  const store = await openSqliteStore(folder.store);
  try {
    await store.check();
    const ledger = await verifyLedger(ledgerEntries(store), {
      checkpoint: await store.ledgerHead(),
    });
    const told: HistoryEntry[] = [];
    for await (const entry of ledgerHistory(store)) told.push(entry);
    const seen = [
      ...receipts.map(receiptSeen),
      ...effects.map(effectSeen),
      ...applied.flatMap(resultApplied),
    ].toSorted((a, b) => a.at - b.at);
    const handoffs = new Map<string, StoredHandoff>();
    for (const id of new Set(told.flatMap(handoffOf))) {
      const stored = await store.handoff(id);
      if (stored !== undefined) handoffs.set(id, stored);
    }
    const unacknowledged = (await store.inbox(DELEGATOR, { limit: PAGE })).map(({ id }) => id);
    const history = merged(told, seen);
    return { kept, applied, effects, history, ledger, handoffs, unacknowledged };
  } finally {
    await store.close();
  }
}

function readJournal<Line>(path: string): readonly Line[] {
  const journal = new Journal<Line>(path);
  journal.close();
  return journal.lines;
}

function receiptSeen({ at, text }: ReceiptLine): HistoryEntry {
  const envelope = parseEnvelope(readCompact(text).payload);
  return { type: "envelope", at, digest: digestOfJws(text), envelope };
}

function effectSeen({ at, handoffId, key }: EffectLine): HistoryEntry {
  return { type: "effect", at, handoff_id: handoffId, key };
}

function resultApplied({ at, id, digest }: AppliedLine): HistoryEntry[] {
  return digest === undefined
    ? []
    : [{ type: "applied", at, handoff_id: id, digest, by: DELEGATOR }];
}

function handoffOf(entry: HistoryEntry): string[] {
  return entry.type === "envelope" ? [entry.envelope.handoff_id] : [entry.handoff_id];
}

/**
 * An observation goes before the first later ledger entry. Everything that had to be on disk by then
 * precedes it, whatever the order of entries within a commit.
 */
function merged(told: readonly HistoryEntry[], seen: readonly HistoryEntry[]): HistoryEntry[] {
  const all: HistoryEntry[] = [];
  let next = 0;
  for (const entry of told) {
    while (next < seen.length && seen[next]!.at < entry.at) all.push(seen[next++]!);
    all.push(entry);
  }
  return [...all, ...seen.slice(next)];
}
