import { isGroupOver, judgeGroup } from "@waybill/protocol";
import type { HandoffState } from "@waybill/protocol";
import { caseOf } from "../custody/record.ts";
import type { Engine } from "./engine.ts";

const PAGE = 100;

/** What changes a group, or is decided by how it stands, goes one after the other. */
export function groupLane(delegator: string, groupId: string): string {
  return `group ${delegator} ${groupId}`;
}

/** Cancels what is still open of a group that is decided. Done again after a crash, it changes nothing. */
export async function endGroup(engine: Engine, delegator: string, groupId: string): Promise<void> {
  const places = new Map<number, HandoffState>();
  const open: string[] = [];
  let rule: NonNullable<ReturnType<typeof caseOf>["record"]["group"]> | undefined;
  for (let after: string | undefined; ;) {
    const page = await engine.store.group(groupId, { after, limit: PAGE });
    for (const stored of page) {
      // Another delegator's group of the same id is another group.
      if (stored.delegator !== delegator) continue;
      const { group, replayedBy } = caseOf(stored).record;
      rule = group!;
      if (stored.state === "open") open.push(stored.id);
      // Ids grow with time, so a replay comes after what it replays, and holds the place.
      if (replayedBy === null || !places.has(group!.index)) places.set(group!.index, stored.state);
    }
    if (page.length < PAGE) break;
    after = page.at(-1)!.id;
  }
  if (rule === undefined) return;
  const { size, join, quorum, onFailure } = rule;
  const verdict = judgeGroup(places.values(), { size, join, quorum: quorum ?? undefined });
  if (!isGroupOver(verdict, onFailure)) return;
  await Promise.all(
    open.map((id) =>
      engine.cases.change(id, (draft) => {
        if (draft.isOpen) draft.decide({ type: "group_decided" });
      }),
    ),
  );
}
