import type { LedgerEntry, Store } from "@waybill/hub";
import type { World } from "../world/world.ts";
import type { Found } from "./verdict.ts";

const PAGE = 100;

/** A repeated receipt or question of the same meaning is answered 201, and not recorded. */
const REPEATABLE: ReadonlySet<string> = new Set(["receipt", "question"]);

/** A receipt is the hub's promise that the envelope is on disk, so it must be there, to the last byte. */
export function lostReceipts(world: World, entries: readonly LedgerEntry[]): Found[] {
  const kept = new Set(entries.map(({ digest }) => digest));
  return world.receipts
    .filter(({ digest, kind, status }) => {
      return !kept.has(digest) && (status === 100 || !REPEATABLE.has(kind));
    })
    .map(({ holder, handoffId, digest, kind }) => ({
      rule: "receipt_for_nothing",
      handoffId,
      message: `${holder} holds the hub's receipt for the ${kind} ${digest}, and the ledger does not have it.`,
    }));
}

/** Every offer that a recipient received must be an attempt in the ledger, of that recipient. */
export function inventedOffers(world: World, entries: readonly LedgerEntry[]): Found[] {
  const offers = new Map<string, string[]>();
  for (const { type, handoffId, content } of entries) {
    if (type !== "decision" || handoffId === null) continue;
    const decision = JSON.parse(content) as { readonly type: string; readonly recipient: string };
    if (decision.type !== "offer") continue;
    offers.set(handoffId, [...(offers.get(handoffId) ?? []), decision.recipient]);
  }
  return world.offers
    .filter(({ handoffId, attempt, agent }) => offers.get(handoffId)?.[attempt - 1] !== agent)
    .map(({ handoffId, attempt, agent }) => ({
      rule: "offer_not_on_record",
      handoffId,
      message: `${agent} was offered attempt ${attempt}, and by the ledger that is not its own.`,
    }));
}

/** Every handoff with a receipt must exist, and have ended. */
export async function openEnds(world: World, store: Store): Promise<Found[]> {
  const ids = new Set(world.receipts.map(({ handoffId }) => handoffId));
  const found: Found[] = [];
  for (const handoffId of ids) {
    const stored = await store.handoff(handoffId);
    if (stored === undefined) {
      const message = "A receipt names it, and the store does not have it.";
      found.push({ rule: "handoff_lost", handoffId, message });
    } else if (stored.state === "open" || stored.wakeAt !== null) {
      const message = `The store has it as ${stored.state}, to be woken at ${stored.wakeAt}.`;
      found.push({ rule: "handoff_unfinished", handoffId, message });
    }
  }
  return found;
}

/** Agents that stayed until the end must have received everything, and have acknowledged it. */
export async function unreadInboxes(store: Store, agents: readonly string[]): Promise<Found[]> {
  const found: Found[] = [];
  for (const agent of agents) {
    for (const { id } of await store.inbox(agent, { limit: PAGE })) {
      const message = `Something of it is still in the inbox of ${agent}, which was there to the end.`;
      found.push({ rule: "inbox_unread", handoffId: id, message });
    }
  }
  return found;
}
