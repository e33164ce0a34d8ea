import { ledgerEntries, ledgerHistory, verifyLedger } from "@waybill/hub";
import type { LedgerEntry, Store } from "@waybill/hub";
import { digestOfJws, parseEnvelope, readCompact } from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import type { HistoryEntry } from "@waybill/protocol/audit";
import type { World } from "../world/world.ts";
import { accountOf } from "./account.ts";
import { lateEnds } from "./late.ts";
import { forbiddenOffers } from "./permitted.ts";
import { openRemains } from "./open-remains.ts";
import { inventedOffers, lostReceipts, openEnds, unreadInboxes } from "./final-state.ts";
import { inventedSessions } from "./sessions.ts";
import { unevenShares } from "./shares.ts";
import type { Found, FinalState, Verdict } from "./verdict.ts";

const HUB_ID = "hub";
const SHOWN_AT_MOST = 50;

/** Whether every promise was kept, according to the disk, the ledger and the parties. */
export async function judge(remains: FinalState): Promise<Verdict> {
  const { world, disk, inbox } = remains;
  const entries: LedgerEntry[] = [];
  let store: Store;
  try {
    store = await openRemains(disk);
    for await (const entry of ledgerEntries(store)) entries.push(entry);
  } catch (error) {
    const message = `What is on the disk can't be read: ${String(error)}`;
    const unreadable = { rule: "store_unreadable", handoffId: "", message, account: [] };
    return { handoffs: 0, violations: [unreadable], ledgerHash: "" };
  }
  const violations: Found[] = [...world.breaches];
  const ledger = await verifyLedger(entries);
  if (!ledger.holds) {
    violations.push({ rule: `ledger_${ledger.fault}`, handoffId: "", message: ledger.message });
  }
  const history = await historyOf(world, entries);
  const report = checkHistory(history, {
    isComplete: true,
    hub: HUB_ID,
    clockSkewMs: 2 * world.scenario.skewMs,
  });
  violations.push(
    ...report.violations,
    ...lostReceipts(world, entries),
    ...inventedOffers(world, entries),
    ...forbiddenOffers(entries),
    ...inventedSessions(entries),
    ...(await openEnds(world, store)),
    ...(await unreadInboxes(store, inbox)),
    ...lateEnds(world, history),
    ...unevenShares(world, history),
  );
  const shown = violations.slice(0, SHOWN_AT_MOST).map((each) => ({
    ...each,
    account: each.handoffId === "" ? [] : accountOf(entries, each.handoffId),
  }));
  return {
    handoffs: report.handoffs,
    violations: shown,
    ledgerHash: entries.at(-1)?.hash ?? "",
  };
}

/** The ledger merged with observations at their places, and receipts that the ledger does not have. */
async function historyOf(world: World, entries: readonly LedgerEntry[]): Promise<HistoryEntry[]> {
  const places = entries.filter(isInHistory).map(({ sequence }) => sequence);
  const seen = world.observations.toSorted((a, b) => (a.after ?? Infinity) - (b.after ?? Infinity));
  const history: HistoryEntry[] = [];
  let next = 0;
  let line = 0;
  const ledger = {
    ledger: ({
      after = 0,
      limit,
    }: {
      readonly after?: number | undefined;
      readonly limit: number;
    }) => Promise.resolve(entries.slice(after, after + limit)),
  };
  for await (const entry of ledgerHistory(ledger)) {
    for (; (seen[next]?.after ?? Infinity) < places[line]!; next++) history.push(seen[next]!.entry);
    history.push(entry);
    line++;
  }
  for (const { entry } of seen.slice(next)) history.push(entry);
  const onRecord = new Set(entries.map(({ digest }) => digest));
  for (const { text } of world.receipts) {
    const digest = digestOfJws(text);
    if (onRecord.has(digest)) continue;
    const envelope = parseEnvelope(readCompact(text).payload);
    history.push({ type: "envelope", at: world.now, digest, envelope });
  }
  return history;
}

/** Notes about the next entry are not entries of a history. */
const NOTES: ReadonlySet<unknown> = new Set(["bound", "refused", "replayed"]);

function isInHistory({ type, content }: LedgerEntry): boolean {
  if (type !== "decision") return type === "envelope";
  return !NOTES.has((JSON.parse(content) as { type?: unknown }).type);
}
