/** A range of code points, both ends included. */
export type Range = readonly [from: number, to: number];

/** What one place of a pattern accepts: ranges, and code points with (or without) a Unicode property. */
export interface SetSource {
  readonly ranges: readonly Range[];
  readonly properties: readonly { name: string; negated: boolean }[];
  readonly negated: boolean;
}

/** The set of code points that one place of a pattern accepts. */
export interface CodePointSet {
  /** Whether it contains each of the first 128 code points: 1 or 0. Made at the first use. */
  ascii(): Uint8Array;
  /** Whether it contains a code point above those. */
  has(codePoint: number): boolean;
  /** The additional cost of `has`: each Unicode property is a test of its own. */
  readonly cost: number;
}

const LAST_CODE_POINT = 0x10ffff;
const STEPS_PER_PROPERTY = 5;
export const ASCII_END = 0x80;

/** The sets of `\d`, `\w` and `\s`, and those that the dot excludes, as ECMA-262 defines them with `u`. */
export const DIGITS: readonly Range[] = [[0x30, 0x39]];
export const WORD: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
export const SPACES: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
export const LINE_ENDS: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

/** Sorts ranges and joins those that touch, so that a lookup is one binary search. */
function merge(ranges: readonly Range[]): readonly Range[] {
  if (ranges.length <= 1) return ranges;
  const merged: [number, number][] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** Every code point that is not in the ranges. */
export function complement(ranges: readonly Range[]): Range[] {
  const rest: Range[] = [];
  let next = 0;
  for (const [from, to] of merge(ranges)) {
    if (from > next) rest.push([next, from - 1]);
    next = to + 1;
  }
  if (next <= LAST_CODE_POINT) rest.push([next, LAST_CODE_POINT]);
  return rest;
}

/** The code points that have a Unicode property. */
interface Property {
  readonly ascii: Uint8Array;
  readonly test: RegExp;
}

// The engine knows a fixed number of properties, so this cache is bounded.
const properties = new Map<string, Property>();

/**
 * A Unicode property, or undefined if there is none of that name. The native engine tests a single
 * code point between two anchors, so an untrusted pattern can not make it backtrack.
 */
export function unicodeProperty(name: string): Property | undefined {
  const known = properties.get(name);
  if (known !== undefined) return known;
  if (!/^\w{1,64}(?:=\w{1,64})?$/.test(name)) return undefined;
  try {
    const test = new RegExp(`^\\p{${name}}$`, "u");
    const ascii = Uint8Array.from({ length: ASCII_END }, (_, codePoint) =>
      Number(test.test(String.fromCodePoint(codePoint))),
    );
    const made = { ascii, test };
    properties.set(name, made);
    return made;
  } catch {
    return undefined;
  }
}

function inRanges(ranges: readonly Range[], codePoint: number): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [from, to] = ranges[middle]!;
    if (codePoint < from) high = middle - 1;
    else if (codePoint > to) low = middle + 1;
    else return true;
  }
  return false;
}

/** Compiles a set. */
export function codePointSet(source: SetSource): CodePointSet {
  const ranges = merge(source.ranges);
  const tests = new Map<string, Property & { negated: boolean }>();
  for (const { name, negated } of source.properties) {
    const property = unicodeProperty(name);
    if (property !== undefined) tests.set(`${negated}${name}`, { ...property, negated });
  }
  const checks = [...tests.values()];

  // Compiled at the first use: a hostile pattern has thousands of sets that no text reaches.
  let ascii: Uint8Array | undefined;
  const makeAscii = (): Uint8Array => {
    const made = new Uint8Array(ASCII_END);
    for (const [from, to] of ranges) {
      if (from >= ASCII_END) break;
      made.fill(1, from, Math.min(to + 1, ASCII_END));
    }
    for (const check of checks) {
      const absent = Number(check.negated);
      for (let at = 0; at < ASCII_END; at += 1) made[at]! |= check.ascii[at]! ^ absent;
    }
    return source.negated ? made.map((has) => 1 - has) : made;
  };
  return {
    ascii: () => (ascii ??= makeAscii()),
    has(codePoint) {
      let found = inRanges(ranges, codePoint);
      if (!found && checks.length > 0) {
        const text = String.fromCodePoint(codePoint);
        found = checks.some((check) => check.test.test(text) !== check.negated);
      }
      return found !== source.negated;
    },
    cost: (Math.log2(ranges.length + 1) >> 1) + STEPS_PER_PROPERTY * checks.length,
  };
}

const WORD_ASCII = codePointSet({ ranges: [...WORD], properties: [], negated: false }).ascii();

/** Whether a code point is part of a word for `\b`. -1 is the end of the text. */
export function isWordPart(codePoint: number): boolean {
  return WORD_ASCII[codePoint] === 1;
}
