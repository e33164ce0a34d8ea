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

/**
 * Another hub has written in between: triggers here everything that its announcement would have
 * triggered.
 */
export async function onConflict(
  engine: Engine,
  id: string,
  before: VersionedRecord | undefined,
): Promise<void> {
  // Another hub's write may have been taken for this hub's write of the same version.
  const newer = await engine.records.reload(id);
  if (newer === undefined || newer.version === before?.version) return;
  noteCommit(engine, storedOf(newer));
  await engine.deliveries.follow(newer.record);
}

/**
 * While this write was under way, another hub's write of the same version was mistaken for its echo.
 */
export async function resolveUnknownCommit(engine: Engine, stored: StoredHandoff): Promise<void> {
  const found = await engine.records.load(stored.id);
  if (found === undefined) return;
  if (found.version >= stored.version) {
    noteCommit(engine, storedOf(found));
    return follow(engine, stored);
  }
  // Nothing was written. Agents have everything already, and whatever is done at once fails at once.
  const before = storedOf(found);
  note(engine, before);
  if (before.waitsFor !== null) engine.dispatcher.reconsiderAfterFailure(before.waitsFor);
}

function noteCommit(engine: Engine, stored: StoredHandoff): void {
  note(engine, stored);
  if (engine.agentSessions.size === 0 || stored.waitsFor === null) return;
  engine.inBackground(engine.dispatcher.offerAgain(stored.id));
}

function note(engine: Engine, stored: StoredHandoff): void {
  if (stored.state !== "open") engine.acceptanceTimers.forget(stored.id);
  engine.openHandoffs.note(stored);
  engine.handoffGroups.noteStored(stored);
  engine.timers.note(stored.wakeAt);
  engine.dispatcher.noteWaiting(stored);
}

/** Delivers to the agents here what concerns them. */
async function follow(engine: Engine, { id, delegator }: StoredHandoff): Promise<void> {
  const { agentSessions, deliveries, records } = engine;
  try {
    const found = await records.load(id);
    if (found !== undefined) await deliveries.follow(found.record);
  } catch (error) {
    // Agents that are attached here would not get it otherwise; an agent that attaches gets it then.
    for (const agent of agentSessions.values()) {
      const isParty = agent.agent === delegator || agent.heldAttempt(id) !== undefined;
      if (isParty) agent.endUnserved(error);
    }
    throw error;
  }
}
