import { storedOf } from "../custody/handoff-record.ts";
import type { VersionedRecord } from "../custody/handoff-record.ts";
import type { StoredHandoff } from "../store.ts";
import type { Engine } from "./engine.ts";

/** Another hub on the same store has written. */
export function onCommitOfAnotherHub(engine: Engine, stored: StoredHandoff): void {
  const { records } = engine;
  records.invalidate(stored);
  noteCommit(engine, stored);
  if (engine.agentSessions.size === 0) return;
  engine.inBackground(records.queue.run(stored.id, () => follow(engine, stored)));
}

/** Another hub has written in between: does all that its word would have set off here. */
export async function catchUp(
  engine: Engine,
  id: string,
  before: VersionedRecord | undefined,
): Promise<void> {
  // What another hub has written may have been taken for the write of the same version here.
  const newer = await engine.records.reload(id);
  if (newer === undefined || newer.version === before?.version) return;
  noteCommit(engine, storedOf(newer));
  await engine.deliveries.follow(newer.record);
}

/** Another hub's word of the same version, which came meanwhile, was taken for the echo of this one. */
export async function resolveUnknownCommit(engine: Engine, stored: StoredHandoff): Promise<void> {
  await follow(engine, stored);
  const found = await engine.records.load(stored.id);
  if (found !== undefined) noteCommit(engine, storedOf(found));
}

function noteCommit(engine: Engine, stored: StoredHandoff): void {
  if (stored.state !== "open") engine.acceptanceTimers.forget(stored.id);
  engine.openHandoffs.note(stored);
  engine.handoffGroups.noteStored(stored);
  engine.timers.note(stored.wakeAt);
  engine.offers.noteWaiting(stored);
  if (engine.agentSessions.size === 0 || stored.waitsFor === null) return;
  engine.inBackground(engine.offers.offerAgain(stored.id));
}

/** Brings to the agents here what they must hear of it. */
async function follow(engine: Engine, { id, delegator }: StoredHandoff): Promise<void> {
  const { agentSessions, deliveries, records } = engine;
  try {
    const found = await records.load(id);
    if (found !== undefined) await deliveries.follow(found.record);
  } catch (error) {
    // Nothing else would bring it to those who are here: whoever attaches again is brought it.
    for (const agent of agentSessions.values()) {
      const isParty = agent.agent === delegator || agent.heldAttempt(id) !== undefined;
      if (isParty) agent.endUnserved(error);
    }
    throw error;
  }
}
