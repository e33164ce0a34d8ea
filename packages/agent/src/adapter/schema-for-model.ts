import { asUntrusted } from "@waybill/protocol";
import type { Json, JsonSchema } from "@waybill/protocol";

const WORDS_SHOWN = 256;

/** Keywords whose text is a constraint: changing it would change what matches. */
const EXACT = new Set([
  "$anchor",
  "$dynamicAnchor",
  "$dynamicRef",
  "$id",
  "$ref",
  "const",
  "dependentRequired",
  "enum",
  "pattern",
  "required",
  "type",
]);

/** Keywords with values that a model may fill in: they are shown unchanged, or not at all. */
const VALUES = new Set(["default", "examples"]);

/** Keywords whose keys are the author's own names, so that a key `title` is no keyword there. */
const NAMED = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/**
 * A foreign schema that accepts the same values, with its free text as bounded single lines: a model
 * reads it too.
 */
export function schemaForModel(schema: JsonSchema): JsonSchema {
  return shown(schema as Json) as JsonSchema;
}

function shown(schema: Json): Json {
  if (typeof schema === "string") return asUntrusted(schema, WORDS_SHOWN);
  if (Array.isArray(schema)) return schema.map(shown);
  if (typeof schema !== "object" || schema === null) return schema;
  const members = Object.entries(schema).flatMap(([keyword, value]): [string, Json][] => {
    if (EXACT.has(keyword)) return [[keyword, value]];
    if (VALUES.has(keyword)) return isQuiet(value) ? [[keyword, value]] : [];
    return [[keyword, NAMED.has(keyword) ? named(value) : shown(value)]];
  });
  return Object.fromEntries(members);
}

function named(schemas: Json): Json {
  if (typeof schemas !== "object" || schemas === null) return shown(schemas);
  const members = Object.entries(schemas).map(([name, schema]): [string, Json] => [
    name,
    // The values of a dependency may be names of other members.
    Array.isArray(schema) ? schema : shown(schema),
  ]);
  return Object.fromEntries(members);
}

function isQuiet(value: Json): boolean {
  if (typeof value === "string") return asUntrusted(value, WORDS_SHOWN) === value;
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, each]) => isQuiet(name) && isQuiet(each));
}
