/**
 * What each kind of work in a check is charged, in steps. A step is about 8 ns of one core, and a step
 * of the dearest kind takes no more than about three times as long as one of the cheapest:
 * `pnpm costs` measures them.
 */
export const STEPS = {
  /** A schema asked about a value, and each of its rules. */
  node: 2,
  rule: 1,
  /** A schema that is only tried, as an alternative is. */
  tried: 2,
  /** A verdict that is looked up, and one that is noted, where several references lead to one schema. */
  recalled: 8,
  remembered: 24,
  /** A member that is listed, and one of an object so wide that the engine keeps it as a hash table. */
  member: 2,
  memberOfMany: 18,
  /** A member that is looked up by its name, and one that is come across on the way through an object. */
  lookup: 5,
  passed: 2,
  /** A part of a value that is noted as looked at. */
  seen: 12,
  /** A search in a text, whatever its length and the pattern. */
  search: 10,
  /** A value that is written down in order to be compared, the names of an object, and a lookup among many. */
  written: 8,
  sortedNames: 24,
  found: 8,
  /** A number that is sorted. */
  sorted: 10,
  /** A number with a fraction that is divided in decimal. */
  divided: 160,
  /** A reason that is put into words. */
  reason: 100,
  /** A place that is put into words. */
  place: 4,
} as const;

/** What it takes to compile a schema: for each value in it, each schema, and each part of a pattern. */
export const COMPILING = { value: 16, schema: 325, instruction: 12 } as const;

/** From so many members on an object is wide. */
export const WIDE = 500;

/** A character that is counted, hashed or copied costs a fraction of a step. */
export function costOfText(text: string): number {
  return text.length >> 3;
}
