/**
 * The cost of each kind of work in a check, in steps. A step is about 8 ns of one core. A step of the
 * slowest kind takes about three times as long as one of the fastest: `pnpm costs` measures them.
 */
export const STEPS = {
  /** Applying a schema to a value, and each of its rules. */
  node: 2,
  rule: 1,
  /** Trying a schema that may fail, such as an alternative. */
  tried: 2,
  /** Looking up a remembered verdict, and remembering one. */
  recalled: 8,
  remembered: 24,
  /** Listing a member, and one of an object so wide that the engine keeps it as a hash table. */
  member: 2,
  memberOfMany: 18,
  /** Looking up a member by name, and passing one while iterating. */
  lookup: 5,
  passed: 2,
  /** Noting a member or an item as evaluated. */
  evaluated: 12,
  /** Starting a search in a text, whatever its length and the pattern. */
  search: 10,
  /** Writing a value as comparable text, sorting the names of an object, and looking that text up. */
  written: 8,
  sortedNames: 24,
  found: 8,
  /** Sorting a number. */
  sorted: 10,
  /** Dividing a fraction in decimal. */
  divided: 160,
  /** Wording an issue. */
  reason: 100,
  /** Making a JSON Pointer. */
  place: 4,
} as const;

/** The cost of compiling: for each JSON value in a schema, each schema, and each pattern instruction. */
export const COMPILING = { value: 16, schema: 325, instruction: 12 } as const;

/** The number of members above which an object counts as wide. */
export const WIDE = 500;

/** Counting, hashing or copying a character costs a fraction of a step. */
export function costOfText(text: string): number {
  return text.length >> 3;
}
