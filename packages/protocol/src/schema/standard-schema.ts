import { compilePattern } from "@waybill/json-schema";
import type { JsonSchema } from "@waybill/json-schema";
import { toJSONSchema } from "zod";
import { WaybillError } from "../error.ts";
import { isObject, normalizeSchema } from "./shorthand.ts";

/** Which side of a transforming schema is meant: its input or its output. */
export type SchemaSide = "input" | "output";

const TARGET = "draft-2020-12";
const WHAT_TO_PASS =
  'pass a zod 4 schema, a JSON Schema, shorthand such as {"query": "string"}, or a Standard Schema that offers jsonSchema';

/**
 * Derives the JSON Schema from whatever an application describes its data with: zod 4, any library
 * whose schemas offer Standard JSON Schema (`~standard.jsonSchema`), JSON Schema itself, or shorthand.
 */
export function schemaFrom(source: unknown, side: SchemaSide = "input"): JsonSchema {
  const standard = standardOf(source);
  const convert = converterOf(standard, side);
  if (convert !== undefined) return derived(() => convert({ target: TARGET }), vendorOf(standard));
  if (hasMember(source, "_zod")) {
    return derived(() => toJSONSchema(source as never, { target: TARGET, io: side }), "zod");
  }
  if (standard !== undefined) {
    throw new WaybillError(
      400,
      `a schema of ${vendorOf(standard)} in this version can't give its JSON Schema; ${WHAT_TO_PASS}`,
    );
  }
  if (typeof source === "function" || source === undefined) {
    throw new WaybillError(
      400,
      `${source === undefined ? "nothing" : "a function"} is not a schema; ${WHAT_TO_PASS}`,
    );
  }
  return normalizeSchema(source);
}

function hasMember(value: unknown, name: string): boolean {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") && name in value
  );
}

/** The `~standard` member; schemas of some libraries are functions. */
function standardOf(source: unknown): Record<string, unknown> | undefined {
  const standard = hasMember(source, "~standard")
    ? (source as Record<string, unknown>)["~standard"]
    : undefined;
  return isObject(standard) ? standard : undefined;
}

type Convert = (options: { target: string }) => unknown;

function converterOf(
  standard: Record<string, unknown> | undefined,
  side: SchemaSide,
): Convert | undefined {
  const offered = standard?.["jsonSchema"];
  if (!hasMember(offered, side)) return undefined;
  const convert = (offered as Record<string, unknown>)[side];
  return typeof convert === "function"
    ? (options) => convert.call(offered, options) as unknown
    : undefined;
}

function vendorOf(standard: Record<string, unknown> | undefined): string {
  return typeof standard?.["vendor"] === "string" ? standard["vendor"] : "an unnamed library";
}

function derived(convert: () => unknown, vendor: string): JsonSchema {
  let schema: unknown;
  try {
    schema = convert();
  } catch (cause) {
    throw new WaybillError(
      400,
      `the schema of ${vendor} has no JSON Schema: ${WaybillError.from(cause).message}; describe that part with JSON types, or pass a JSON Schema`,
      { cause },
    );
  }
  if (typeof schema === "boolean") return schema;
  if (!isObject(schema))
    throw new WaybillError(400, `the schema of ${vendor} gave no JSON Schema; ${WHAT_TO_PASS}`);
  return withoutLookaround(schema) as JsonSchema;
}

/**
 * Drops a pattern that can't be matched in linear time if a format means the same: zod writes
 * lookahead for durations, host names and emoji, and without this no schema with a duration could be
 * published. The library that made the schema still checks it in full.
 */
function withoutLookaround(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLookaround);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(
    ([name, given]) =>
      name !== "pattern" ||
      typeof given !== "string" ||
      typeof value["format"] !== "string" ||
      isCarried(given),
  );
  return Object.fromEntries(kept.map(([name, given]) => [name, withoutLookaround(given)]));
}

function isCarried(source: string): boolean {
  try {
    compilePattern(source);
    return true;
  } catch {
    return false;
  }
}
