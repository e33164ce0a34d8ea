import { JsonSchemaError } from "./error.ts";
import { describeValue, isObject, pointerTo } from "./json-values.ts";

/** A schema as it is kept: a copy of the caller's object, plain data, within its limits. */
export type RawSchema = boolean | { [keyword: string]: unknown };

/** Writing to these names reaches an object's prototype, so no schema may use them. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export function isReservedName(name: string): boolean {
  return RESERVED_NAMES.has(name);
}

export function refuse(at: string, message: string): never {
  throw new JsonSchemaError(
    "invalid",
    `the schema is refused at ${at === "" ? "its root" : at}: ${message}`,
    { at },
  );
}

export function tooLarge(at: string, reason: string): never {
  throw new JsonSchemaError("limit", `the schema is too large: ${reason}`, { at });
}

function misused(at: string, expected: string, given: unknown): never {
  return refuse(at, `expected ${expected}, got ${describeValue(given)}`);
}

export function readNumber(given: unknown, at: string): number {
  return typeof given === "number" && Number.isFinite(given)
    ? given
    : misused(at, "a number", given);
}

export function readCount(given: unknown, at: string): number {
  return typeof given === "number" && Number.isInteger(given) && given >= 0
    ? given
    : misused(at, "a whole number of 0 or more", given);
}

export function readText(given: unknown, at: string): string {
  return typeof given === "string" ? given : misused(at, "a string", given);
}

export function readFlag(given: unknown, at: string): boolean {
  return typeof given === "boolean" ? given : misused(at, "true or false", given);
}

export function readList(given: unknown, at: string): unknown[] {
  return Array.isArray(given) ? given : misused(at, "an array", given);
}

export function readNames(given: unknown, at: string): string[] {
  const names = readList(given, at).map((name, index) => readName(name, pointerTo(at, index)));
  return new Set(names).size === names.length ? names : refuse(at, "a name is listed twice");
}

function readName(given: unknown, at: string): string {
  const name = readText(given, at);
  return isReservedName(name) ? refuse(at, `the name ${JSON.stringify(name)} is reserved`) : name;
}

export function readSchema(given: unknown, at: string): RawSchema {
  return typeof given === "boolean" || isObject(given)
    ? given
    : misused(at, "a schema (an object, true or false)", given);
}

export function readSchemas(given: unknown, at: string): RawSchema[] {
  const list = readList(given, at);
  if (list.length === 0) refuse(at, "expected at least one schema");
  return list.map((item, index) => readSchema(item, pointerTo(at, index)));
}

export function readMap(given: unknown, at: string): [name: string, value: unknown][] {
  return isObject(given) ? Object.entries(given) : misused(at, "an object", given);
}
