import type { HistoryEntry } from "@waybill/protocol/audit";
import { HUB, TOPOLOGIES } from "../plan/plan.ts";
import type { Topology } from "../plan/plan.ts";
import type { Outage } from "../supervise/charge.ts";
import type { Evidence } from "./evidence.ts";

/** An attempt that ended by silence or interruption, and so used up a try. */
export interface LostAttempt {
  readonly handoffId: string;
  /** Whether its recipient or the hub was killed or not yet back at some time during it. */
  readonly isForced: boolean;
}

/** The lost attempts in the ledger, and whether a kill caused each. */
export function lostAttempts(
  history: readonly HistoryEntry[],
  topology: Topology,
  outages: readonly Outage[],
): LostAttempt[] {
  const { hubServes } = TOPOLOGIES[topology];
  const offers = new Map<string, { readonly recipient: string; readonly at: number }[]>();
  const lost: LostAttempt[] = [];
  const lose = (handoffId: string, attempt: number, at: number) => {
    const offer = offers.get(handoffId)?.[attempt - 1];
    if (offer === undefined) return;
    const { recipient, at: since } = offer;
    const needed = [HUB, hubServes.includes(recipient) ? HUB : recipient];
    const isForced = outages.some(
      ({ name, from, until }) => needed.includes(name) && from <= at && until >= since,
    );
    lost.push({ handoffId, isForced });
  };
  for (const entry of history) {
    if (entry.type === "event") {
      const { handoff_id: id, event } = entry;
      if (event.type === "offer") {
        const { recipient, at } = event;
        offers.set(id, [...(offers.get(id) ?? []), { recipient, at }]);
      } else if (event.type === "lease_lost") lose(id, event.attempt, event.at);
    } else if (entry.type === "envelope" && entry.envelope.kind === "result") {
      const { handoff_id: id, attempt, body } = entry.envelope;
      if (body.status === 501) lose(id, attempt, entry.at);
    }
  }
  return lost;
}

/**
 * Handoffs that ended as 508 because kills used up their attempts, and their ancestors. A single
 * attempt that was lost for another reason voids the excuse.
 */
export function usedUpByKills(
  { history, handoffs }: Pick<Evidence, "history" | "handoffs">,
  lost: readonly LostAttempt[],
): ReadonlySet<string> {
  const forced = new Set(lost.map(({ handoffId }) => handoffId));
  for (const { handoffId, isForced } of lost) if (!isForced) forced.delete(handoffId);
  const usedUp = new Set<string>();
  for (const entry of history) {
    if (entry.type !== "envelope" || entry.envelope.kind !== "notice") continue;
    const { handoff_id: id, body } = entry.envelope;
    if (body.status !== 508 || !forced.has(id)) continue;
    usedUp.add(id);
    const parentId = handoffs.get(id)?.parentId;
    if (parentId != null) usedUp.add(parentId);
  }
  return usedUp;
}
