import { parseEnvelope, readCompact } from "@waybill/protocol";
import type { Digest, StatusCode } from "@waybill/protocol";
import type { HistoryEntry } from "@waybill/protocol/audit";
import type { LifecycleTerms } from "@waybill/protocol/hub";
import { isHubEvent } from "./custody/entries.ts";
import type { Decision } from "./custody/entries.ts";
import type { LedgerEntry, Store } from "./store.ts";

const PAGE = 500;

/** A ledger in the form that protocol's `checkHistory` reads. */
export async function* ledgerHistory(store: Pick<Store, "ledger">): AsyncIterable<HistoryEntry> {
  const notes: Notes = new Map();
  for (let after = 0; ;) {
    const page = await store.ledger({ after, limit: PAGE });
    for (const entry of page) {
      const found = historyEntryOf(entry, notes);
      if (found !== undefined) yield found;
    }
    if (page.length < PAGE) return;
    after = page.at(-1)!.sequence;
  }
}

/** The hub's note about an envelope, one line before it. */
type Notes = Map<Digest, { status?: StatusCode; terms?: LifecycleTerms }>;

function historyEntryOf(entry: LedgerEntry, notes: Notes): HistoryEntry | undefined {
  const { at, digest, content } = entry;
  if (entry.type === "manifest") return undefined;
  if (entry.type === "envelope") {
    const envelope = parseEnvelope(readCompact(content).payload);
    const note = notes.get(digest);
    notes.delete(digest);
    // Envelopes on record were accepted, or refused with a note that says so.
    return { type: "envelope", at, digest, envelope, status: 100, ...note };
  }
  const { handoff_id, ...decision } = JSON.parse(content) as Decision & { handoff_id: string };
  if (decision.type === "refused") notes.set(decision.digest, { status: decision.status });
  else if (decision.type === "bound") notes.set(decision.digest, { terms: decision.terms });
  else if (isHubEvent(decision)) return { type: "event", at, handoff_id, event: decision };
  return undefined;
}
