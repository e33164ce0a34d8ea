import { checkEnvelope } from "./history-envelope.ts";
import { checkApplied, checkEffect, checkEvent } from "./history-event.ts";
import { violated } from "./history-record.ts";
import type { History, HistoryEntry, HistoryOptions, HistoryReport } from "./history-record.ts";

export { HISTORY_RULES } from "./history-record.ts";
export type {
  HistoryEntry,
  HistoryOptions,
  HistoryReport,
  HubEvent,
  RuleName,
  Violation,
} from "./history-record.ts";

/**
 * Checks whether P1 to P4 hold in a history, and where they are violated. The entries are folded by
 * the reducer, and the promises are stated a second time on the entries alone, so that a faulty
 * reducer does not make a faulty history pass.
 */
export function checkHistory(
  entries: Iterable<HistoryEntry>,
  options: HistoryOptions = {},
): HistoryReport {
  const history: History = {
    hub: options.hub,
    clockSkewMs: options.clockSkewMs ?? 0,
    records: new Map(),
    groups: new Map(),
    outcomes: new Map(),
    lists: new Map(),
    violations: [],
    index: 0,
    lastAt: -Infinity,
  };
  for (const entry of entries) {
    history.lastAt = Math.max(history.lastAt, entry.at);
    checkEntry(history, entry);
    history.index++;
  }
  const count = history.index;
  if (options.isComplete === true) checkNothingIsOpen(history);
  const { violations, records } = history;
  return { holds: violations.length === 0, handoffs: records.size, entries: count, violations };
}

function checkEntry(history: History, entry: HistoryEntry): void {
  switch (entry.type) {
    case "envelope":
      return checkEnvelope(history, entry);
    case "event":
      return checkEvent(history, entry);
    case "applied":
      return checkApplied(history, entry);
    case "effect":
      return checkEffect(history, entry);
  }
}

function checkNothingIsOpen(history: History): void {
  history.index = -1;
  for (const { id, end, deadline } of history.records.values()) {
    if (end !== undefined) continue;
    violated(history, "never_ended", id, "The hub took it and the history ends without its end.");
    if (history.lastAt >= deadline + history.clockSkewMs) {
      const message = `It is still open ${history.lastAt - deadline} ms after its deadline.`;
      violated(history, "open_past_deadline", id, message);
    }
  }
}
