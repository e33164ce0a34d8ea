import { isGroupOver, judgeGroup } from "@waybill/protocol";
import type { HandoffState } from "@waybill/protocol";
import { recordOf } from "../custody/handoff-record.ts";
import type { HandoffRecord } from "../custody/handoff-record.ts";
import type { Store } from "../store.ts";
import { commitHandoff } from "./commit-handoff.ts";
import type { Engine } from "./engine.ts";

const PAGE = 100;

/** The key under which changes of a group, and decisions that depend on it, run one after the other. */
export function groupKey(delegator: string, groupId: string): string {
  return `group ${delegator} ${groupId}`;
}

export async function membersOf(
  store: Store,
  delegator: string,
  groupId: string,
): Promise<HandoffRecord[]> {
  const members: HandoffRecord[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.group(delegator, groupId, { after, limit: PAGE });
    for (const stored of page) members.push(recordOf(stored).record);
    if (page.length < PAGE) return members;
    after = page.at(-1)!.id;
  }
}

type Rule = NonNullable<HandoffRecord["group"]>;

/** Whether a group is decided; `joining` is the index of a member that is about to be added. */
export function isDecided(members: readonly HandoffRecord[], joining?: number): boolean {
  const places = new Map<number, HandoffState>();
  let rule: Rule | undefined;
  for (const { group, replayedBy, state } of members) {
    rule = group!;
    // Ids grow with time, so a replay comes after its original, and takes its index.
    if (replayedBy === null || !places.has(rule.index)) places.set(rule.index, state.state);
  }
  if (rule === undefined) return false;
  if (joining !== undefined) places.set(joining, "open");
  const { size, join, quorum, onFailure } = rule;
  const verdict = judgeGroup(places.values(), { size, join, quorum: quorum ?? undefined });
  return isGroupOver(verdict, onFailure);
}

/** Cancels the open members of a decided group. It is idempotent, and done again after a crash. */
export async function endGroup(engine: Engine, delegator: string, groupId: string): Promise<void> {
  const members = await membersOf(engine.store, delegator, groupId);
  if (!isDecided(members)) return;
  await Promise.all(
    members
      .filter(({ state }) => state.state === "open")
      .map(({ state }) =>
        commitHandoff(engine, state.id, (transaction) => {
          if (transaction.isOpen) transaction.decide({ type: "group_decided" });
        }),
      ),
  );
}
