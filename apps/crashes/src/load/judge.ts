/// <reference types="node" />
import { ledgerEntries, ledgerHistory, verifyLedger } from "@waybill/hub";
import type { ListedHandoff } from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import type { HistoryEntry } from "@waybill/protocol/audit";
import { openSqliteStore } from "@waybill/store-sqlite";

export interface Left {
  readonly entries: number;
  readonly handoffs: number;
  readonly violations: readonly string[];
}

/** After this many entries nothing more is recorded about an acknowledged handoff. */
const QUIET_AFTER = 50_000;

/**
 * Checks what a hub has left on its disk: every handoff ended and acknowledged, no promise broken,
 * the chain intact.
 */
export async function judgeLeft(file: string): Promise<Left> {
  const store = await openSqliteStore(file);
  try {
    const violations: string[] = [];
    const open = new Map<string, { last: number; entries: HistoryEntry[] }>();
    let entries = 0;
    let handoffs = 0;
    const judge = (each: Iterable<HistoryEntry[]>): void => {
      const history = [...each].flat();
      const found = checkHistory(history, { isComplete: true, hub: "hub" }).violations;
      violations.push(...found.map((violation) => JSON.stringify(violation)));
    };
    for await (const entry of ledgerHistory(store)) {
      entries++;
      const untaken = sharedReceipt(entry).filter((named) => !isTaken(open, named));
      violations.push(...untaken.map(({ re }) => `a receipt names ${re}, which was not taken`));
      for (const id of handoffsOf(entry)) {
        let found = open.get(id);
        if (found === undefined) {
          open.set(id, (found = { last: 0, entries: [] }));
          handoffs++;
        }
        found.last = entries;
        found.entries.push(entry);
      }
      if (entries % QUIET_AFTER !== 0) continue;
      const quiet = [...open].filter(
        ([, { last, entries: said }]) => last < entries - QUIET_AFTER && said.some(isAcknowledged),
      );
      judge(quiet.map(([, { entries: said }]) => said));
      for (const [over] of quiet) open.delete(over);
    }
    judge([...open.values()].map(({ entries: said }) => said));
    if ((await store.nextWakeAt()) !== null) violations.push("a handoff has not ended");
    const report = await verifyLedger(ledgerEntries(store));
    if (!report.holds) violations.push(report.message);
    return { entries, handoffs, violations };
  } finally {
    await store.close();
  }
}

function isAcknowledged(entry: HistoryEntry): boolean {
  if (entry.type === "event") return entry.event.type === "acknowledge";
  if (entry.type !== "envelope" || entry.envelope.kind !== "receipt") return false;
  return entry.envelope.body.status === 200 && entry.envelope.body.also === undefined;
}

type Entries = ReadonlyMap<string, { readonly entries: readonly HistoryEntry[] }>;

function isTaken(handoffs: Entries, { handoff_id: id, re }: ListedHandoff): boolean {
  const said = handoffs.get(id)?.entries ?? [];
  return said.some((each) => each.type === "envelope" && each.digest === re);
}

/** What a custody receipt for several confirms. */
function sharedReceipt(entry: HistoryEntry): readonly ListedHandoff[] {
  if (entry.type !== "envelope" || entry.envelope.kind !== "receipt") return [];
  const { status, also } = entry.envelope.body;
  return status !== 100 || also === undefined ? [] : [entry.envelope, ...also];
}

/**
 * An acknowledgement of several is judged with each of them. A receipt for several is judged when it
 * comes: not all that it names are judged together.
 */
function handoffsOf(entry: HistoryEntry): readonly string[] {
  if (entry.type !== "envelope") return [entry.handoff_id];
  if (sharedReceipt(entry).length > 0) return [];
  const { handoff_id: own, body } = entry.envelope;
  const also = "also" in body ? (body.also ?? []) : [];
  return [own, ...also.map(({ handoff_id: id }) => id)];
}
