import type { Pattern } from "./pattern.ts";
import type { Rule, Run } from "./schema-run.ts";
import {
  readCount,
  readFlag,
  readList,
  readMap,
  readNames,
  readNumber,
  readText,
  refuse,
} from "./schema-read.ts";
import {
  codePointLength,
  comparableText,
  describe,
  hasMember,
  isMultipleOf,
  isObject,
  jsonTypeOf,
  memberNames,
  pointerTo,
} from "./schema-values.ts";

/** Makes the rule of a keyword that looks at the value alone and at no other schema. */
type Assertion = (
  given: unknown,
  at: string,
  compile: (source: string, at: string) => Pattern,
) => Rule;

const TYPE_NAMES: ReadonlySet<string> = new Set([
  "null",
  "boolean",
  "integer",
  "number",
  "string",
  "array",
  "object",
]);

/** In the order in which they are asked: what is cheap and tells most comes first. */
export const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  type: (given, at) => {
    const types = readTypes(given, at);
    const expected = [...types].join(" or ");
    return (value, place, run) =>
      fitsTypes(types, value) ||
      run.fail(place, "type", () => `expected ${expected}, got ${describe(value)}`);
  },

  const: (given) => {
    const isAllowed = oneOfValues([given]);
    return (value, place, run) =>
      isAllowed(value, run) ||
      run.fail(place, "const", () => `expected exactly ${describe(given)}, got ${describe(value)}`);
  },

  enum: (given, at) => {
    const allowed = readList(given, at);
    const isAllowed = oneOfValues(allowed);
    return (value, place, run) =>
      isAllowed(value, run) ||
      run.fail(place, "enum", () => {
        const shown = allowed.slice(0, 10).map(describe).join(", ");
        return `expected one of ${shown}${allowed.length > 10 ? ", …" : ""}, got ${describe(value)}`;
      });
  },

  minimum: comparison("of at least", (value, bound) => value >= bound),
  maximum: comparison("of at most", (value, bound) => value <= bound),
  exclusiveMinimum: comparison("above", (value, bound) => value > bound),
  exclusiveMaximum: comparison("below", (value, bound) => value < bound),

  multipleOf: (given, at) => {
    const divisor = readNumber(given, at);
    if (divisor <= 0) refuse(at, `expected a number above 0, got ${divisor}`);
    return (value, place, run) =>
      jsonTypeOf(value) !== "number" ||
      isMultipleOf(value as number, divisor) ||
      run.fail(
        place,
        "multipleOf",
        () => `expected a multiple of ${divisor}, got ${describe(value)}`,
      );
  },

  minLength: textLength(
    "at least",
    (text, bound, run) => text.length >= bound && lengthOf(text, run) >= bound,
  ),
  maxLength: textLength(
    "at most",
    (text, bound, run) => text.length <= bound || lengthOf(text, run) <= bound,
  ),

  minItems: count("items", "at least", itemsOf, (size, bound) => size >= bound),
  maxItems: count("items", "at most", itemsOf, (size, bound) => size <= bound),
  minProperties: count("members", "at least", membersOf, (size, bound) => size >= bound),
  maxProperties: count("members", "at most", membersOf, (size, bound) => size <= bound),

  required: (given, at) => {
    const names = readNames(given, at);
    return (value, place, run) => !isObject(value) || hasAll(value, names, place, "required", run);
  },

  dependentRequired: (given, at) => {
    const entries = readMap(given, at).map(
      ([name, names]) => [name, readNames(names, pointerTo(at, name))] as const,
    );
    return (value, place, run) => {
      if (!isObject(value)) return true;
      run.spend(entries.length);
      const present = entries.filter(([name]) => hasMember(value, name));
      return present.every(([, names]) => hasAll(value, names, place, "dependentRequired", run));
    };
  },

  pattern: (given, at, compile) => {
    const pattern = compile(readText(given, at), at);
    return (value, place, run) =>
      typeof value !== "string" ||
      pattern.test(value, run.spend) ||
      run.fail(place, "pattern", () => {
        const { source } = pattern;
        const shown = source.length > 100 ? `${source.slice(0, 100)}…` : source;
        return `expected a string that matches ${shown}, got ${describe(value)}`;
      });
  },

  uniqueItems: (given, at) => {
    if (!readFlag(given, at)) return () => true;
    return (value, place, run) => {
      if (!Array.isArray(value)) return true;
      const twin = findTwin(value, run);
      return (
        twin === -1 ||
        run.fail(
          place,
          "uniqueItems",
          () => `expected no item twice, but item ${twin} was there before`,
        )
      );
    };
  },
};

function readTypes(given: unknown, at: string): Set<string> {
  const names = Array.isArray(given) ? readNames(given, at) : [readText(given, at)];
  const unknown = names.find((name) => !TYPE_NAMES.has(name));
  if (unknown !== undefined || names.length === 0) {
    refuse(
      at,
      `expected one or more of ${[...TYPE_NAMES].join(", ")}, got ${describe(unknown ?? given)}`,
    );
  }
  return new Set(names);
}

export function isTypeName(name: unknown): boolean {
  return typeof name === "string" && TYPE_NAMES.has(name);
}

export function fitsTypes(types: ReadonlySet<string>, value: unknown): boolean {
  const type = jsonTypeOf(value);
  return (
    type !== undefined && (types.has(type) || (types.has("integer") && Number.isInteger(value)))
  );
}

/** A lookup among many values that costs the same for ten as for ten thousand. */
function oneOfValues(allowed: readonly unknown[]): (value: unknown, run: Run) => boolean {
  const isPlain = (value: unknown): boolean => typeof value !== "object" || value === null;
  const plain = new Set(allowed.filter(isPlain));
  const composed = new Set(
    allowed
      .filter((value) => !isPlain(value))
      .map((value) => comparableText(value, () => undefined)),
  );
  return (value, run) => {
    if (isPlain(value)) return plain.has(value);
    return composed.size > 0 && composed.has(comparableText(value, run.spend));
  };
}

function comparison(words: string, holds: (value: number, bound: number) => boolean): Assertion {
  return (given, at) => {
    const bound = readNumber(given, at);
    const keyword = keywordOf(at);
    return (value, place, run) =>
      jsonTypeOf(value) !== "number" ||
      holds(value as number, bound) ||
      run.fail(place, keyword, () => `expected a number ${words} ${bound}, got ${describe(value)}`);
  };
}

function textLength(
  words: string,
  holds: (text: string, bound: number, run: Run) => boolean,
): Assertion {
  return (given, at) => {
    const bound = readCount(given, at);
    const keyword = keywordOf(at);
    return (value, place, run) =>
      typeof value !== "string" ||
      holds(value, bound, run) ||
      run.fail(place, keyword, () => {
        return `expected ${words} ${bound} characters, got ${codePointLength(value)}`;
      });
  };
}

function lengthOf(text: string, run: Run): number {
  run.spend(text.length >> 3);
  return codePointLength(text);
}

function count(
  what: string,
  words: string,
  sizeOf: (value: unknown, run: Run) => number | undefined,
  holds: (size: number, bound: number) => boolean,
): Assertion {
  return (given, at) => {
    const bound = readCount(given, at);
    const keyword = keywordOf(at);
    return (value, place, run) => {
      const size = sizeOf(value, run);
      return (
        size === undefined ||
        holds(size, bound) ||
        run.fail(place, keyword, () => `expected ${words} ${bound} ${what}, got ${size}`)
      );
    };
  };
}

function itemsOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function membersOf(value: unknown, run: Run): number | undefined {
  return isObject(value) ? memberNames(value, run.spend).length : undefined;
}

export function hasAll(
  value: Record<string, unknown>,
  names: readonly string[],
  place: string,
  keyword: string,
  run: Run,
): boolean {
  run.spend(names.length);
  let hasEach = true;
  for (const name of names) {
    if (hasMember(value, name)) continue;
    hasEach = run.fail(place, keyword, () => `the member ${JSON.stringify(name)} is missing`);
    if (!run.isExplaining || run.isFull) return false;
  }
  return hasEach;
}

/** The index of the first item that equals one before it, or -1. */
function findTwin(items: readonly unknown[], run: Run): number {
  const plain = new Set<unknown>();
  const composed = new Set<string>();
  run.spend(items.length);
  return items.findIndex((item) => {
    const isComposed = typeof item === "object" && item !== null;
    const known: Set<unknown> = isComposed ? composed : plain;
    const key = isComposed ? comparableText(item, run.spend) : item;
    if (known.has(key)) return true;
    known.add(key);
    return false;
  });
}

function keywordOf(at: string): string {
  return at.slice(at.lastIndexOf("/") + 1);
}
