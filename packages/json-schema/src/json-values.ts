import { JsonSchemaError } from "./error.ts";
import type { Spend } from "./pattern/pattern.ts";
import { costOfText, STEPS, WIDE } from "./costs.ts";

type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

/** How deep a value may be nested where it is compared as a whole. */
const COMPARED_DEPTH = 256;

/** How many characters of a JSON Pointer are shown, and of one name in it or in a message. */
const POINTER_CHARACTERS = 1_000;
const NAME_CHARACTERS = 100;

/** The JSON type of a value; undefined for values that JSON does not have, such as Infinity. */
export function jsonTypeOf(value: unknown): JsonType | undefined {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "boolean":
    case "string":
    case "object":
      return typeof value as JsonType;
    case "number":
      return Number.isFinite(value) ? "number" : undefined;
    default:
      return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether an object has a member. As in JSON, a member that is undefined is absent. */
export function hasMember(value: Record<string, unknown>, name: string): boolean {
  return value[name] !== undefined && Object.hasOwn(value, name);
}

export function memberNames(value: Record<string, unknown>, spend: Spend): string[] {
  const names = Object.keys(value);
  spend(names.length * (names.length > WIDE ? STEPS.memberOfMany : STEPS.member));
  for (const name of names) {
    if (value[name] === undefined) return names.filter((each) => value[each] !== undefined);
  }
  return names;
}

/**
 * The JSON Pointer (RFC 6901) of a member or an item. A pointer that would be too long ends with an
 * ellipsis: names are untrusted, and the pointer of every descendant would repeat them.
 */
export function pointerTo(at: string, key: string | number): string {
  if (at.length > POINTER_CHARACTERS) return at.endsWith("…") ? at : `${at}/…`;
  if (typeof key === "number") return `${at}/${key}`;
  const name = shortened(key);
  const isPlain = !name.includes("/") && !name.includes("~");
  return `${at}/${isPlain ? name : name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** A name for a message or a pointer, shortened if it is long. */
export function shortened(name: string): string {
  return name.length > NAME_CHARACTERS ? `${name.slice(0, NAME_CHARACTERS)}…` : name;
}

/** An untrusted value for a message: the value itself if it is short, and otherwise its type. */
export function describeValue(value: unknown): string {
  const type = jsonTypeOf(value);
  if (type === "string") {
    const text = value as string;
    return text.length > 40 ? `a string of ${text.length} characters` : JSON.stringify(text);
  }
  if (type === "array") return "an array";
  if (type === "object") return "an object";
  if (typeof value === "number" || typeof value === "boolean" || value === null)
    return String(value);
  return value === undefined ? "nothing" : `a ${typeof value}, which JSON doesn't have`;
}

export function codePointLength(text: string): number {
  let { length } = text;
  for (let index = 0; index < text.length - 1; index += 1) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xd800) continue;
    if ((text.charCodeAt(index + 1) & 0xfc00) !== 0xdc00) continue;
    length -= 1;
    index += 1;
  }
  return length;
}

/** A number as digits × 10^exponent, from its decimal notation. */
function decimalOf(value: number): { digits: bigint; exponent: number } {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value)) ?? [];
  return {
    digits: BigInt(`${sign}${whole}${fraction}`),
    exponent: Number(power) - fraction.length,
  };
}

/** Divides in decimal, as the author of a schema expects: 0.3 is a multiple of 0.1. */
export function isMultipleOf(value: number, divisor: number, spend: Spend): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  spend(STEPS.divided);
  const left = decimalOf(value);
  const right = decimalOf(divisor);
  const exponent = Math.min(left.exponent, right.exponent);
  const scaledLeft = left.digits * 10n ** BigInt(left.exponent - exponent);
  const scaledRight = right.digits * 10n ** BigInt(right.exponent - exponent);
  return scaledLeft % scaledRight === 0n;
}

/**
 * A text that two values share exactly when they are equal in JSON Schema: names sorted, numbers by
 * value. It is used for comparison only. Undefined if it would be longer than `longest`, because then
 * no known value equals it.
 */
export function comparableText(
  value: unknown,
  spend: Spend,
  longest: number = Infinity,
): string | undefined {
  // One list for the whole value: joining at each level would copy a nested text once per level.
  const parts: string[] = [];
  return write(value, parts, { spend, left: longest }, 0) ? parts.join("") : undefined;
}

interface Writing {
  readonly spend: Spend;
  left: number;
}

function write(value: unknown, parts: string[], writing: Writing, depth: number): boolean {
  if (depth > COMPARED_DEPTH) {
    throw new JsonSchemaError(
      "limit",
      `the value is nested deeper than ${COMPARED_DEPTH} where it is compared`,
    );
  }
  if (Array.isArray(value)) {
    if (!put(`[${value.length} `, parts, writing)) return false;
    for (const item of value) if (!write(item, parts, writing, depth + 1)) return false;
    return true;
  }
  if (isObject(value)) {
    const names = sortedNames(value, writing.spend);
    if (!put(`{${names.length} `, parts, writing)) return false;
    for (const name of names) {
      if (!put(measured(name), parts, writing)) return false;
      if (!write(value[name], parts, writing, depth + 1)) return false;
    }
    return true;
  }
  return put(typeof value === "string" ? measured(value) : `${String(value)} `, parts, writing);
}

/** A text with a length prefix, so that no two lists of texts have the same notation. */
function measured(text: string): string {
  return `"${text.length} ${text}`;
}

function put(text: string, parts: string[], writing: Writing): boolean {
  writing.spend(STEPS.written + costOfText(text));
  writing.left -= text.length;
  parts.push(text);
  return writing.left >= 0;
}

function sortedNames(value: Record<string, unknown>, spend: Spend): string[] {
  const names = memberNames(value, spend);
  const comparisons = Math.ceil(Math.log2(names.length + 1));
  spend(STEPS.sortedNames);
  // Engines compare names many characters at a time.
  for (const name of names) spend(comparisons * (1 + (costOfText(name) >> 2)));
  return names.sort();
}
