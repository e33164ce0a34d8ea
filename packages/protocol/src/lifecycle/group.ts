import type { Group } from "../envelope/envelope.ts";
import type { HandoffState } from "./transitions.ts";

/** How many members of a group have to succeed. */
export type JoinRule = Pick<Group, "size" | "join" | "quorum">;

/** `reached`: as many successes as the rule requires. `failed`: they can't be reached any more. */
export type GroupVerdict = "open" | "reached" | "failed";

/** The state of a group. Members that have not arrived yet count as open. */
export function judgeGroup(members: Iterable<HandoffState>, rule: JoinRule): GroupVerdict {
  const { size, join, quorum = size } = rule;
  const needed = join === "all" ? size : join === "any" ? 1 : quorum;
  let completed = 0;
  let ended = 0;
  for (const state of members) {
    if (state === "completed") completed++;
    else if (state !== "open") ended++;
  }
  if (completed >= needed) return "reached";
  return size - ended < needed ? "failed" : "open";
}

/** Whether nobody needs the members that are still open. */
export function isGroupOver(verdict: GroupVerdict, onFailure: Group["on_failure"]): boolean {
  return verdict === "reached" || (verdict === "failed" && onFailure !== "wait");
}
