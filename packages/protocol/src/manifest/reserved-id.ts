/**
 * Pairs of similar spellings in the alphabet of WB-05. Single characters come first, so that a pair is
 * found however its parts are spelled: `c1` is `cl`, and `cl` is `d`.
 */
const LOOKALIKES: readonly (readonly [string, string])[] = [
  ["0", "o"],
  ["1", "l"],
  ["i", "l"],
  ["3", "e"],
  ["4", "a"],
  ["5", "s"],
  ["7", "t"],
  ["8", "b"],
  ["rn", "m"],
  ["vv", "w"],
  ["cl", "d"],
];

const SEPARATORS = /[._-]/g;

/**
 * Whether a name is reserved for a hub's operator: a name that begins like `operator`, one whose first
 * part is `hub`, and one that looks like one of `names`, for example the hub's own. Strangers can't
 * enrol under such a name, because people would trust it.
 *
 * @example
 * ```ts
 * isReservedId("0perator-2", []); // true
 * isReservedId("acme-hvb", ["acme-hub"]); // false
 * ```
 */
export function isReservedId(agentId: string, names: readonly string[]): boolean {
  const looks = skeletonOf(agentId);
  const [first = ""] = agentId.split(SEPARATORS);
  return (
    looks.startsWith("operator") ||
    skeletonOf(first) === "hub" ||
    names.some((name) => skeletonOf(name) === looks)
  );
}

function skeletonOf(id: string): string {
  const joined = id.replaceAll(SEPARATORS, "");
  return LOOKALIKES.reduce((text, [each, as]) => text.replaceAll(each, as), joined);
}
