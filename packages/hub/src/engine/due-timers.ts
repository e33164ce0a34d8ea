import type { StoredHandoff } from "../store.ts";
import type { TakenAttempt } from "./acceptance-timers.ts";
import { runAfterEnd } from "./after-end.ts";
import { commitHandoff } from "./commit-handoff.ts";
import type { Change } from "./decide.ts";
import type { Engine } from "./engine.ts";

/** Applies what has become due, and completes what was unfinished when a hub went down. */
export function applyDueTimers(engine: Engine, { id, version }: StoredHandoff): Promise<void> {
  return apply(engine, id, { type: "due", version });
}

/** The grace period of a taken attempt is over: if it is not accepted by now, it is lost. */
export function expireAcceptance(engine: Engine, id: string, taken: TakenAttempt): Promise<void> {
  return apply(engine, id, { type: "unaccepted", taken });
}

async function apply(engine: Engine, id: string, change: Change): Promise<void> {
  const changed = await commitHandoff(engine, id, change);
  if (changed.type !== "changed") return;
  if ((changed.transaction.record?.afterEnd ?? []).length > 0) await runAfterEnd(engine, id);
}
