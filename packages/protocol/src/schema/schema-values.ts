import { WaybillError } from "../error.ts";
import type { Spend } from "./pattern.ts";

type JsonType = "null" | "boolean" | "number" | "string" | "array" | "object";

/** How deep a value may be nested where the whole of it is compared. */
const COMPARED_DEPTH = 256;

/** The JSON type of a value; undefined for what JSON doesn't have, such as Infinity or a function. */
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

/** Members that JSON would write: one that is undefined isn't there. */
export function hasMember(value: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

export function memberNames(value: Record<string, unknown>, spend: Spend): string[] {
  const names = Object.keys(value);
  // Large objects are hash tables inside the engine, and listing one costs far more than a plain step.
  spend(8 * names.length);
  return names.filter((name) => value[name] !== undefined);
}

/** The JSON Pointer (RFC 6901) of a member or an item. */
export function pointerTo(at: string, key: string | number): string {
  return `${at}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** A value in a message: its type, and itself where it is short. Values come from strangers. */
export function describe(value: unknown): string {
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
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text.codePointAt(index)! > 0xffff) index += 1;
    length += 1;
  }
  return length;
}

/** A number as digits × 10^exponent: what it says in decimal, not what its bits are. */
function decimalOf(value: number): { digits: bigint; exponent: number } {
  const [, sign = "", whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value)) ?? [];
  return {
    digits: BigInt(`${sign}${whole}${fraction}`),
    exponent: Number(power) - fraction.length,
  };
}

/** Decimal, as the author of a schema thinks: 0.3 is a multiple of 0.1, though its bits are not. */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const left = decimalOf(value);
  const right = decimalOf(divisor);
  const exponent = Math.min(left.exponent, right.exponent);
  const scaledLeft = left.digits * 10n ** BigInt(left.exponent - exponent);
  const scaledRight = right.digits * 10n ** BigInt(right.exponent - exponent);
  return scaledLeft % scaledRight === 0n;
}

/**
 * A text that two values share exactly when JSON Schema calls them equal: names sorted, numbers by
 * value. It serves comparison only and never leaves the process.
 */
export function comparableText(value: unknown, spend: Spend, depth = 0): string {
  if (depth > COMPARED_DEPTH) {
    throw new WaybillError(
      413,
      `the value is nested deeper than ${COMPARED_DEPTH} where it is compared`,
    );
  }
  if (Array.isArray(value)) {
    spend(4 + 4 * value.length);
    return `[${value.map((item) => comparableText(item, spend, depth + 1)).join(",")}]`;
  }
  if (isObject(value)) {
    const names = memberNames(value, spend).toSorted();
    spend(4);
    const members = names.map(
      (name) => `${JSON.stringify(name)}:${comparableText(value[name], spend, depth + 1)}`,
    );
    return `{${members.join(",")}}`;
  }
  if (typeof value !== "string") return String(value);
  spend(1 + (value.length >> 3));
  return JSON.stringify(value);
}
