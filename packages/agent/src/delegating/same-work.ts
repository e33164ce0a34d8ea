import type { HandoffBody } from "@waybill/protocol";

/** What says what is to be done. Terms and notes on the side may differ from one run to the next. */
const WORK = ["capability", "version", "input", "brief", "messages", "artifacts"] as const;

/** Whether two handoffs ask for the same. */
export function isSameWork(one: HandoffBody, other: HandoffBody): boolean {
  return WORK.every((member) => spelled(one[member]) === spelled(other[member]));
}

/** The order of members is no difference between JSON values. */
function spelled(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== "object" || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
