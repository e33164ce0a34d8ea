import { dueEvent, liveAttempt } from "@waybill/protocol";
import type { Draft } from "../custody/draft.ts";
import type { StoredHandoff } from "../store.ts";
import type { Engine } from "./engine.ts";
import { followUp } from "./follow-ups.ts";

/** What the clock has made due, and what was left undone when a hub went down. */
export async function wake(engine: Engine, { id, version }: StoredHandoff): Promise<void> {
  const changed = await engine.cases.change(id, (draft) => {
    const { record } = draft;
    if (record === undefined) return [];
    for (let due = dueEvent(record.state, draft.at); due !== undefined;) {
      if (!passesTime(draft, due, engine.openedAt)) break;
      due = dueEvent(draft.record!.state, draft.at);
    }
    if (draft.isOpen) draft.wantsOffer = true;
    // A frame has moved its time on, in memory alone; where another hub was first, nothing is left.
    const isStale = record === draft.record && draft.version === version;
    if (isStale && record.followUps.length === 0) draft.isForced = true;
    return draft.record!.followUps;
  });
  if (changed.type === "changed" && changed.value.length > 0) {
    await followUp(engine, id);
  }
}

function passesTime(
  draft: Draft,
  due: NonNullable<ReturnType<typeof dueEvent>>,
  openedAt: number,
): boolean {
  const { state } = draft.record!;
  const live = liveAttempt(state);
  const wasSilent = live?.silentAt != null && live.silentAt < openedAt;
  if (due.type === "lease_lost" && live?.state === "accepted" && wasSilent) {
    // While no hub was there to hear it, silence was not the recipient's: one more lease.
    const { recipient: by, number: attempt } = live;
    return draft.frame({ type: "heartbeat", by, attempt, at: draft.at }) === 100;
  }
  if (due.type === "expire") return draft.decide({ type: "expire" }) === 100;
  if (due.type !== "unreachable" && due.type !== "lease_lost") return false;
  if (live?.state === "offered") {
    // Nor could it take an offer, or accept what it took: that has its whole time from the start on.
    const { offerMs, graceMs } = state.terms;
    const silentAt = openedAt + (live.isTaken ? graceMs : offerMs);
    if (draft.at < silentAt) {
      const attempts = [...state.attempts.slice(0, -1), { ...live, silentAt }];
      draft.amend({ state: { ...state, attempts } });
      return true;
    }
  }
  return draft.decide({ type: due.type, attempt: due.attempt }) === 100;
}
