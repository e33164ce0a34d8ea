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
  const live = liveAttempt(draft.record!.state);
  const wasSilent = live?.silentAt != null && live.silentAt < openedAt;
  if (due.type === "lease_lost" && live?.state === "accepted" && wasSilent) {
    // While no hub was there to hear it, silence was not the recipient's: one more lease.
    const { recipient: by, number: attempt } = live;
    return draft.frame({ type: "heartbeat", by, attempt, at: draft.at }) === 100;
  }
  if (due.type === "expire") return draft.decide({ type: "expire" }) === 100;
  if (due.type !== "unreachable" && due.type !== "lease_lost") return false;
  return draft.decide({ type: due.type, attempt: due.attempt }) === 100;
}
