import { dueEvent, liveAttempt } from "@waybill/protocol";
import type { Draft } from "../custody/draft.ts";
import { decisionEntry } from "../custody/entries.ts";
import type { StoredHandoff } from "../store.ts";
import type { Engine } from "./engine.ts";
import { followUp } from "./follow-ups.ts";
import type { Taken } from "./graces.ts";

/** What the clock has made due, and what was left undone when a hub went down. */
export function wake(engine: Engine, { id, version }: StoredHandoff): Promise<void> {
  return pass(engine, id, (draft) => {
    const { record } = draft;
    passDue(draft, engine.openedAt);
    // A frame has moved its time on, in memory alone; where another hub was first, nothing is left.
    const isStale = record === draft.record && draft.version === version;
    if (isStale && record!.followUps.length === 0) draft.isForced = true;
  });
}

/** The grace of an attempt that was taken is over: what is not accepted by now is lost. */
export function lapse(engine: Engine, id: string, { by, attempt, at }: Taken): Promise<void> {
  return pass(engine, id, (draft) => {
    const frame = { type: "taken", by, attempt, at } as const;
    // Where another hub has written since, the frame is in no record any more.
    if (draft.frame(frame) === 100) draft.entries.push(decisionEntry(at, id, frame));
    passDue(draft, engine.openedAt);
  });
}

async function pass(engine: Engine, id: string, plan: (draft: Draft) => void): Promise<void> {
  const changed = await engine.cases.change(id, (draft) => {
    if (draft.record === undefined) return [];
    plan(draft);
    if (draft.isOpen) draft.wantsOffer = true;
    return draft.record.followUps;
  });
  if (changed.type === "changed" && changed.value.length > 0) {
    await followUp(engine, id);
  }
}

function passDue(draft: Draft, openedAt: number): void {
  for (let due = dueEvent(draft.record!.state, draft.at); due !== undefined;) {
    if (!passesTime(draft, due, openedAt)) break;
    due = dueEvent(draft.record!.state, draft.at);
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
