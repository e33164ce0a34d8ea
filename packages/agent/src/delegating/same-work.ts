import { digestOfBytes } from "@waybill/protocol";
import type { HandoffBody } from "@waybill/protocol";
import { isArtifact, labelOf } from "../artifacts/given.ts";
import type { GivenArtifact } from "../artifacts/given.ts";

/** Work as it is given, or as an envelope has it. */
export type GivenWork = Omit<HandoffBody, "artifacts"> & {
  readonly artifacts?: readonly GivenArtifact[] | undefined;
};

/** The members that define the work. Terms and notes may differ between runs. */
const WORK = ["capability", "version", "input", "brief", "messages"] as const;

/** Whether two handoffs ask for the same work. */
export function isSameWork(one: GivenWork, other: GivenWork): boolean {
  return (
    WORK.every((member) => sortedJson(one[member]) === sortedJson(other[member])) &&
    areSame(one.artifacts, other.artifacts)
  );
}

function areSame(
  ones: readonly GivenArtifact[] = [],
  others: readonly GivenArtifact[] = [],
): boolean {
  return ones.length === others.length && ones.every((one, at) => isSame(one, others[at]!));
}

/** A file that was not read yet has no digest, and is compared by name. */
function isSame(one: GivenArtifact, other: GivenArtifact): boolean {
  if (sortedJson(labelOf(one)) !== sortedJson(labelOf(other))) return false;
  const [digest, otherDigest] = [digestOf(one), digestOf(other)];
  return digest === undefined || otherDigest === undefined || digest === otherDigest;
}

function digestOf(given: GivenArtifact): string | undefined {
  if (isArtifact(given)) return `${given.digest} ${given.url ?? ""}`;
  return "bytes" in given ? `${digestOfBytes(given.bytes)} ` : undefined;
}

/** The order of members does not distinguish JSON values. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== "object" || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
