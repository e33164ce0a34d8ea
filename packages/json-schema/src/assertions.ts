import type { MeteredPattern } from "./pattern/pattern.ts";
import { costOfText, STEPS } from "./costs.ts";
import type { Rule, CheckRun } from "./evaluate.ts";
import {
  readCount,
  readFlag,
  readList,
  readMap,
  readNames,
  readNumber,
  readText,
  refuse,
} from "./keyword-values.ts";
import { findDuplicate, isOneOf } from "./value-sets.ts";
import {
  codePointLength,
  describeValue,
  hasMember,
  isMultipleOf,
  isObject,
  jsonTypeOf,
  memberNames,
  pointerTo,
  shortened,
} from "./json-values.ts";

/** Makes the rule of a keyword that applies no other schema. */
type Assertion = (
  given: unknown,
  at: string,
  compile: (source: string, at: string) => MeteredPattern,
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

/** In the order in which they are checked: cheap and decisive keywords come first. */
export const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  type: (given, at) => {
    const types = readTypes(given, at);
    const expected = [...types].join(" or ");
    return (value, place, run) =>
      fitsTypes(types, value) ||
      run.fail(place, "type", () => `expected ${expected}, got ${describeValue(value)}`);
  },

  const: (given) => {
    const isAllowed = isOneOf([given]);
    return (value, place, run) =>
      isAllowed(value, run) ||
      run.fail(
        place,
        "const",
        () => `expected exactly ${describeValue(given)}, got ${describeValue(value)}`,
      );
  },

  enum: (given, at) => {
    const allowed = readList(given, at);
    const isAllowed = isOneOf(allowed);
    return (value, place, run) =>
      isAllowed(value, run) ||
      run.fail(place, "enum", () => {
        const shown = allowed.slice(0, 10).map(describeValue).join(", ");
        return `expected one of ${shown}${allowed.length > 10 ? ", …" : ""}, got ${describeValue(value)}`;
      });
  },

  minimum: comparison("minimum", "of at least", (value, bound) => value >= bound),
  maximum: comparison("maximum", "of at most", (value, bound) => value <= bound),
  exclusiveMinimum: comparison("exclusiveMinimum", "above", (value, bound) => value > bound),
  exclusiveMaximum: comparison("exclusiveMaximum", "below", (value, bound) => value < bound),

  multipleOf: (given, at) => {
    const divisor = readNumber(given, at);
    if (divisor <= 0) refuse(at, `expected a number above 0, got ${divisor}`);
    return (value, place, run) =>
      jsonTypeOf(value) !== "number" ||
      isMultipleOf(value as number, divisor, run.spend) ||
      run.fail(
        place,
        "multipleOf",
        () => `expected a multiple of ${divisor}, got ${describeValue(value)}`,
      );
  },

  minLength: textLength(
    "minLength",
    "at least",
    (text, bound, run) => text.length >= bound && lengthOf(text, run) >= bound,
  ),
  maxLength: textLength(
    "maxLength",
    "at most",
    (text, bound, run) => text.length <= bound || lengthOf(text, run) <= bound,
  ),

  minItems: count("minItems", "at least", itemsOf, (size, bound) => size >= bound),
  maxItems: count("maxItems", "at most", itemsOf, (size, bound) => size <= bound),
  minProperties: count("minProperties", "at least", membersOf, (size, bound) => size >= bound),
  maxProperties: count("maxProperties", "at most", membersOf, (size, bound) => size <= bound),

  required: (given, at) => {
    const names = readNames(given, at);
    return (value, place, run) => !isObject(value) || hasAll(value, names, place, "required", run);
  },

  dependentRequired: (given, at) => {
    const entries = readMap(given, at).map(([name, names]) => ({
      name,
      names: readNames(names, pointerTo(at, name)),
    }));
    return (value, place, run) => {
      if (!isObject(value)) return true;
      run.spend(STEPS.lookup * entries.length);
      for (const { name, names } of entries) {
        if (!hasMember(value, name)) continue;
        if (!hasAll(value, names, place, "dependentRequired", run)) return false;
      }
      return true;
    };
  },

  pattern: (given, at, compile) => {
    const pattern = compile(readText(given, at), at);
    return (value, place, run) =>
      typeof value !== "string" ||
      pattern.test(value, run.spend, run.patterns) ||
      run.fail(place, "pattern", () => {
        return `expected a string that matches ${shortened(pattern.source)}, got ${describeValue(value)}`;
      });
  },

  uniqueItems: (given, at) => {
    if (!readFlag(given, at)) return () => true;
    return (value, place, run) => {
      if (!Array.isArray(value)) return true;
      const duplicate = findDuplicate(value, run.spend);
      return (
        duplicate === -1 ||
        run.fail(
          place,
          "uniqueItems",
          () => `expected unique items, but item ${duplicate} is a duplicate`,
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
      `expected one or more of ${[...TYPE_NAMES].join(", ")}, got ${describeValue(unknown ?? given)}`,
    );
  }
  return new Set(names);
}

export function fitsTypes(types: ReadonlySet<string>, value: unknown): boolean {
  const type = jsonTypeOf(value);
  return (
    type !== undefined && (types.has(type) || (types.has("integer") && Number.isInteger(value)))
  );
}

function comparison(
  keyword: string,
  words: string,
  holds: (value: number, bound: number) => boolean,
): Assertion {
  return (given, at) => {
    const bound = readNumber(given, at);
    return (value, place, run) =>
      jsonTypeOf(value) !== "number" ||
      holds(value as number, bound) ||
      run.fail(
        place,
        keyword,
        () => `expected a number ${words} ${bound}, got ${describeValue(value)}`,
      );
  };
}

function textLength(
  keyword: string,
  words: string,
  holds: (text: string, bound: number, run: CheckRun) => boolean,
): Assertion {
  return (given, at) => {
    const bound = readCount(given, at);
    return (value, place, run) =>
      typeof value !== "string" ||
      holds(value, bound, run) ||
      run.fail(place, keyword, () => {
        return `expected ${words} ${bound} characters, got ${lengthOf(value, run)}`;
      });
  };
}

function lengthOf(text: string, run: CheckRun): number {
  run.spend(costOfText(text));
  return codePointLength(text);
}

function count(
  keyword: string,
  words: string,
  sizeOf: (value: unknown, run: CheckRun) => number | undefined,
  holds: (size: number, bound: number) => boolean,
): Assertion {
  return (given, at) => {
    const bound = readCount(given, at);
    return (value, place, run) => {
      const size = sizeOf(value, run);
      return (
        size === undefined ||
        holds(size, bound) ||
        run.fail(place, keyword, () => {
          const what = keyword.endsWith("Items") ? "items" : "members";
          return `expected ${words} ${bound} ${what}, got ${size}`;
        })
      );
    };
  };
}

function itemsOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function membersOf(value: unknown, run: CheckRun): number | undefined {
  return isObject(value) ? memberNames(value, run.spend).length : undefined;
}

export function hasAll(
  value: Record<string, unknown>,
  names: readonly string[],
  place: string,
  keyword: string,
  run: CheckRun,
): boolean {
  let hasEach = true;
  for (const name of names) {
    run.spend(STEPS.lookup);
    if (hasMember(value, name)) continue;
    hasEach = run.fail(
      place,
      keyword,
      () => `the member ${JSON.stringify(shortened(name))} is missing`,
    );
    if (!run.isExplaining || run.isFull) return false;
  }
  return hasEach;
}
