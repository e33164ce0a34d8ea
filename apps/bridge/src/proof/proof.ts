/// <reference types="node" />
import { ledgerEntries, ledgerHistory, verifyCheckpoint, verifyLedger } from "@waybill/hub";
import type { LedgerReport } from "@waybill/hub";
import { parseEnvelope, readCompact } from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import type { HistoryEntry, HistoryReport } from "@waybill/protocol/audit";
import type { HandoffView } from "@waybill/protocol/wire";
import { openSqliteReader } from "@waybill/store-sqlite";
import { HUB } from "../room/hub.ts";
import type { Published } from "../room/newsroom.ts";
import { Signatures } from "../story/signatures.ts";
import type { Figures } from "./figures.ts";

export interface Proof {
  readonly figures: Figures;
  readonly history: HistoryReport;
  readonly ledger: LedgerReport;
  /** How many signatures were checked here, with the keys in the manifests. */
  readonly signatures: number;
  /** How many forgeries were recorded in the ledger as genuine. */
  readonly forgeriesOnRecord: number;
}

/** Reads the database that the hub has left, and trusts nobody. */
export async function prove(published: Published, startedAt: number): Promise<Proof> {
  const { database, handoffs, refused, attempted } = published;
  const reader = await openSqliteReader(database);
  try {
    const signatures = new Signatures();
    const forged = new Set(attempted.map(({ digest }) => digest));
    const taken = new Set<string>();
    for await (const entry of ledgerEntries(reader)) {
      signatures.check(entry);
      if (entry.type === "envelope") taken.add(entry.digest);
    }
    const entries: HistoryEntry[] = await Array.fromAsync(ledgerHistory(reader));
    const isRefused = (digest: string) =>
      entries.some((each) => each.type === "envelope" && each.digest === digest && each.status);
    const keyOf = (kid: string) => signatures.keyOf(kid)?.key;
    const checkpoint = verifyCheckpoint(published.checkpoint, keyOf);
    const ledger = await verifyLedger(ledgerEntries(reader), { checkpoint });
    const history = checkHistory(entries, { hub: HUB, isComplete: true });
    const inState = (state: HandoffView["state"]) =>
      handoffs.filter((each) => each.state === state).length;
    return {
      history,
      ledger,
      signatures: signatures.checked,
      forgeriesOnRecord: [...forged].filter((each) => taken.has(each) && !isRefused(each)).length,
      figures: {
        handoffs: handoffs.length,
        completed: inState("completed"),
        failed: inState("failed"),
        cancelled: inState("cancelled"),
        dead_lettered: inState("dead_lettered"),
        replayed: handoffs.filter(isReplay).length,
        refused,
        violations: history.violations.length,
        ledger_entries: ledger.holds ? ledger.entries : ledger.sequence - 1,
        ledger_ok: ledger.holds,
        seconds: Math.round((Date.now() - startedAt) / 100) / 10,
      },
    };
  } finally {
    await reader.close();
  }
}

function isReplay({ envelope }: HandoffView): boolean {
  const handoff = parseEnvelope(readCompact(envelope).payload);
  return handoff.kind === "handoff" && handoff.replay_of !== undefined;
}
