import { commitHandoff } from "./commit-handoff.ts";
import { applyDueTimers, expireAcceptance } from "./due-timers.ts";
import { endGroup } from "./end-group.ts";
import type { Reactions } from "./engine.ts";
import { onCommitOfAnotherHub } from "./other-hubs.ts";

/** What follows at a hub from its timers, from agents with room, and from other hubs. */
export const REACTIONS: Reactions = {
  onDue: applyDueTimers,
  onUnaccepted: expireAcceptance,
  onRoom: (engine, id) => commitHandoff(engine, id, { type: "offer_again" }),
  onOtherCommit(engine, stored) {
    onCommitOfAnotherHub(engine, stored);
    // Each hub may have committed a member of a group before it learned of the other's.
    if (!engine.handoffGroups.isKnown(stored)) return;
    engine.inBackground(endGroup(engine, stored.delegator, stored.groupId!));
  },
};
