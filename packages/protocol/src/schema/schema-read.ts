import { WaybillError } from "../error.ts";
import { describe, isObject, pointerTo } from "./schema-values.ts";

/** A schema as it is kept: a copy of the stranger's object, plain data, within its bounds. */
export type RawSchema = boolean | { [keyword: string]: unknown };

/** Names that reach an object's prototype when they are written to: no schema may speak of them. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

export function refuse(at: string, message: string): never {
  throw new WaybillError(
    400,
    `the schema is refused at ${at === "" ? "its root" : at}: ${message}`,
    { at },
  );
}

function misused(at: string, expected: string, given: unknown): never {
  return refuse(at, `expected ${expected}, got ${describe(given)}`);
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
  return new Set(names).size === names.length ? names : refuse(at, "a name stands here twice");
}

function readName(given: unknown, at: string): string {
  const name = readText(given, at);
  return RESERVED_NAMES.has(name)
    ? refuse(at, `the name ${JSON.stringify(name)} is reserved`)
    : name;
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

interface CopyLimits {
  depth: number;
  members: number;
  values: number;
}

/** What a copy has come to. */
export interface Copied {
  readonly schema: unknown;
  readonly values: number;
  /** Of names and texts, and eight for each value. */
  readonly characters: number;
}

const CHARACTERS_OF_VALUE = 8;

/**
 * Copies a schema into plain data of its own. From here on nothing outside can change it, its size and
 * depth are bounded, an object that contains itself has ended as too deep, and each place is one object.
 */
export function copySchema(schema: unknown, limits: CopyLimits): Copied {
  let values = 0;
  let characters = 0;
  const copy = (value: unknown, at: string, depth: number): unknown => {
    values += 1;
    if (values > limits.values) tooLarge(at, `it has more than ${limits.values} values`);
    if (typeof value === "string") characters += value.length;
    if (typeof value !== "object" || value === null) return value;
    if (depth >= limits.depth) tooLarge(at, `it is nested deeper than ${limits.depth} levels`);
    if (Array.isArray(value)) {
      return Array.from(value, (item, index) => copy(item, pointerTo(at, index), depth + 1));
    }
    const names = Object.keys(value);
    if (names.length > limits.members)
      tooLarge(at, `an object has more than ${limits.members} members`);
    const copied: Record<string, unknown> = {};
    for (const name of names) {
      if (RESERVED_NAMES.has(name))
        refuse(pointerTo(at, name), `the name ${JSON.stringify(name)} is reserved`);
      const member = (value as Record<string, unknown>)[name];
      // As in JSON, a member that is undefined isn't there.
      if (member === undefined) continue;
      characters += name.length;
      copied[name] = copy(member, pointerTo(at, name), depth + 1);
    }
    return copied;
  };
  const copied = copy(schema, "", 0);
  return { schema: copied, values, characters: characters + CHARACTERS_OF_VALUE * values };
}

function tooLarge(at: string, reason: string): never {
  throw new WaybillError(413, `the schema is too large: ${reason}`, { at });
}
