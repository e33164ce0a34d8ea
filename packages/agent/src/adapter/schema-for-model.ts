import { asUntrusted } from "@waybill/protocol";
import type { Json, JsonSchema } from "@waybill/protocol";

const WORDS_SHOWN = 256;

/** A text there decides what fits: with another it would be another schema. */
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

/** Values that somebody may fill in: they are shown as they are, or not at all. */
const VALUES = new Set(["default", "examples"]);

/** There a member's name is the author's, and `title` is no keyword. */
const NAMED = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** A stranger's schema that takes the same values, with its free words as bounded lines: a model reads them too. */
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
    // What a member depends on may be the names of others.
    Array.isArray(schema) ? schema : shown(schema),
  ]);
  return Object.fromEntries(members);
}

function isQuiet(value: Json): boolean {
  if (typeof value === "string") return asUntrusted(value, WORDS_SHOWN) === value;
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, each]) => isQuiet(name) && isQuiet(each));
}
