/**
 * Spellings that look alike, in an alphabet that WB-05 has made small already. Single characters come
 * first, so that a pair is found however its parts are spelled: `c1` is `cl`, and `cl` is `d`.
 */
const LOOKS: readonly (readonly [string, string])[] = [
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
 * Whether a name is kept for whoever runs a hub: one that begins like `operator`, one whose first
 * part is `hub`, and one that looks like one of `names`, the hub's own for example. Strangers do not
 * enrol under such a name, because people take it for what it says.
 *
 * @example
 * ```ts
 * isReservedId("0perator-2", []); // true
 * isReservedId("acme-hvb", ["acme-hub"]); // false
 * ```
 */
export function isReservedId(agentId: string, names: readonly string[]): boolean {
  const looks = looksOf(agentId);
  const [first = ""] = agentId.split(SEPARATORS);
  return (
    looks.startsWith("operator") ||
    looksOf(first) === "hub" ||
    names.some((name) => looksOf(name) === looks)
  );
}

function looksOf(id: string): string {
  const joined = id.replaceAll(SEPARATORS, "");
  return LOOKS.reduce((text, [each, as]) => text.replaceAll(each, as), joined);
}
