import { commitHandoff } from "./commit-handoff.ts";
import type { Engine } from "./engine.ts";

/** Cancels the open members of a decided group. It is idempotent, and repeated after a crash. */
export async function endGroup(engine: Engine, delegator: string, groupId: string): Promise<void> {
  const members = await engine.handoffGroups.of(delegator, groupId);
  if (!members.isDecided()) return;
  await Promise.all(
    members.open().map((id) => commitHandoff(engine, id, { type: "group_decided" })),
  );
}
