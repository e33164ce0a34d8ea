import { copySchema, describeValue, pointerTo, schemaAllowance } from "@waybill/json-schema";
import type { JsonSchema, SchemaAllowance } from "@waybill/json-schema";
import { WaybillError } from "../error.ts";
import { LIMITS } from "../limits.ts";
import { asWaybillError } from "./schema-error.ts";

/** The words of the shorthand and their JSON Schemas. */
const WORDS: Readonly<Record<string, { type?: string }>> = {
  string: { type: "string" },
  int: { type: "integer" },
  integer: { type: "integer" },
  float: { type: "number" },
  number: { type: "number" },
  bool: { type: "boolean" },
  boolean: { type: "boolean" },
  array: { type: "array" },
  list: { type: "array" },
  object: { type: "object" },
  dict: { type: "object" },
  null: { type: "null" },
  any: {},
};

/** A word that is also a type of JSON Schema, under the same name. */
function isTypeName(name: unknown): boolean {
  return typeof name === "string" && Object.hasOwn(WORDS, name) && WORDS[name]!.type === name;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Entry = [name: string, given: unknown];

type Kind =
  | "type"
  | "text"
  | "number"
  | "flag"
  | "list"
  | "schema"
  | "schemas"
  | "map"
  | "lists"
  | "any";

/**
 * The values that a keyword of JSON Schema takes. Annotations that OpenAPI adds are known so that they
 * are ignored.
 */
const KEYWORDS: Readonly<Record<string, Kind>> = {
  ...kindOf("type", "type"),
  ...kindOf("text", "title description format pattern contentEncoding contentMediaType"),
  ...kindOf("number", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
  ...kindOf("number", "minLength maxLength minItems maxItems minContains maxContains"),
  ...kindOf("number", "minProperties maxProperties"),
  ...kindOf("flag", "uniqueItems deprecated readOnly writeOnly nullable"),
  ...kindOf("list", "required enum examples"),
  ...kindOf("schemas", "allOf anyOf oneOf prefixItems"),
  ...kindOf(
    "schema",
    "items additionalItems contains additionalProperties propertyNames not if then else",
  ),
  ...kindOf("schema", "unevaluatedItems unevaluatedProperties contentSchema"),
  ...kindOf("map", "properties patternProperties definitions dependentSchemas"),
  ...kindOf("lists", "dependentRequired dependencies"),
  ...kindOf("any", "const default example discriminator xml externalDocs"),
};

function kindOf(kind: Kind, keywords: string): Record<string, Kind> {
  return Object.fromEntries(keywords.split(" ").map((keyword) => [keyword, kind]));
}

const HOW_TO_MARK_A_SCHEMA =
  'put "$schema": "https://json-schema.org/draft/2020-12/schema" into a JSON Schema to mark it as one';

/**
 * Gives the JSON Schema for a schema in a manifest, which may be in the founding document's shorthand:
 * `{"query": "string", "depth": "int?"}` is an object with a required text and an optional integer.
 *
 * Which of the two an object is goes by this rule. A *usage* is a member that is named after a keyword
 * and holds what that keyword takes; a *word* is a text such as "string", "int?" or "string[]".
 *
 * 1. `true`, `false`, `{}` and whatever has a member that starts with `$` is a JSON Schema.
 * 2. If all members are usages, it is a JSON Schema when one of them is `type`, or one holds anything
 *    but a word: `{"type":"string"}`, `{"pattern":"^a"}`, `{"anyOf":[…]}`.
 *    `{"title":"string","pattern":"string"}` is shorthand for two fields.
 * 3. If some members are no usages, it is shorthand: `{"type":"string","name":"string"}` has two fields.
 *    But where a usage holds anything but a word, the other members are unknown keywords of a JSON
 *    Schema; and should one of them read as a field (a word, an object, or, without `type`, any text:
 *    it may be a misspelt word), the object says both and is refused.
 */
export function normalizeSchema(
  input: unknown,
  allowance: SchemaAllowance = schemaAllowance(),
): JsonSchema {
  const { schemaDepth, schemaNodes } = LIMITS;
  const { schema } = asWaybillError(() =>
    copySchema(input, { schemaDepth, schemaNodes, allowance }),
  );
  const forms: Forms = new Map();
  return isJsonSchema(schema, "", forms)
    ? (input as JsonSchema)
    : fromShorthand(schema, "", 0, forms);
}

/** The form of an object; if it mixes the two, a field of the one and a usage of the other. */
type Form = "schema" | "shorthand" | { readonly field: Entry; readonly usage: Entry };

/** Cached, or a deep schema would be read as often as it is deep. */
type Forms = Map<object, Form>;

function isJsonSchema(value: unknown, at: string, forms: Forms): value is JsonSchema {
  const form = formOf(value, forms);
  if (form === "schema" || form === "shorthand") return form === "schema";
  const { field, usage } = form;
  throw new WaybillError(
    400,
    `the schema at ${at || "its root"} mixes two forms: ${describeValue(field[0])} reads as a field in shorthand, ${describeValue(usage[0])} as a keyword of JSON Schema; move fields into "properties" and correct what is in there, or ${HOW_TO_MARK_A_SCHEMA}`,
    { at },
  );
}

function formOf(value: unknown, forms: Forms): Form {
  if (!isObject(value)) return typeof value === "boolean" ? "schema" : "shorthand";
  let form = forms.get(value);
  if (form === undefined) forms.set(value, (form = formOfObject(value, forms)));
  return form;
}

function formOfObject(value: Record<string, unknown>, forms: Forms): Form {
  const entries = Object.entries(value);
  if (entries.length === 0 || entries.some(([name]) => name.startsWith("$"))) return "schema";
  const usages: Entry[] = [];
  const others: Entry[] = [];
  for (const entry of entries) (isUsage(entry, forms) ? usages : others).push(entry);
  const proof = usages.find(([name, given]) => !isWord(given) && !name.startsWith("x-"));
  const isTyped = Object.hasOwn(value, "type");
  if (others.length === 0) return proof !== undefined || isTyped ? "schema" : "shorthand";
  if (proof === undefined) return "shorthand";
  const readsAsField = (given: unknown): boolean =>
    isWord(given) || isObject(given) || (typeof given === "string" && !isTyped);
  const field = others.find(([, given]) => readsAsField(given));
  return field === undefined ? "schema" : { field, usage: proof };
}

function isUsage([name, given]: Entry, forms: Forms): boolean {
  // A nested schema need not be valid for its keyword to be a usage; it is checked on its own later.
  const looksLikeSchema = (each: unknown): boolean => formOf(each, forms) !== "shorthand";
  if (name.startsWith("x-")) return true;
  switch (Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined) {
    case "type":
      return (
        isTypeName(given) || (Array.isArray(given) && given.length > 0 && given.every(isTypeName))
      );
    case "text":
      return typeof given === "string";
    case "number":
      return typeof given === "number";
    case "flag":
      return typeof given === "boolean";
    case "list":
      return Array.isArray(given);
    case "schemas":
      return Array.isArray(given) && given.every(looksLikeSchema);
    case "schema":
      return looksLikeSchema(given) || (Array.isArray(given) && given.every(looksLikeSchema));
    case "map":
      return isObject(given) && Object.values(given).every(looksLikeSchema);
    case "lists":
      return (
        isObject(given) &&
        Object.values(given).every((each) => Array.isArray(each) || looksLikeSchema(each))
      );
    case "any":
      return true;
    case undefined:
      return false;
  }
}

function isWord(value: unknown): boolean {
  if (typeof value !== "string") return false;
  return Object.hasOwn(WORDS, withoutLists(value.endsWith("?") ? value.slice(0, -1) : value));
}

function fromShorthand(value: unknown, at: string, depth: number, forms: Forms): JsonSchema {
  if (typeof value === "string") return fromWord(value, at);
  if (!isObject(value)) {
    const hint = Array.isArray(value)
      ? 'write "string[]" or "array" for a list'
      : `expected ${knownWords()}`;
    throw new WaybillError(
      400,
      `the schema at ${at || "its root"} is ${describeValue(value)}; ${hint}, or an object, or a JSON Schema`,
      { at },
    );
  }
  if (depth > LIMITS.schemaDepth) {
    throw new WaybillError(413, `the schema is nested deeper than ${LIMITS.schemaDepth} levels`, {
      at,
    });
  }
  const properties: [string, JsonSchema][] = [];
  const required: string[] = [];
  for (const [name, given] of Object.entries(value)) {
    const place = pointerTo(at, name);
    if (name.endsWith("?")) {
      throw new WaybillError(
        400,
        `the field ${describeValue(name)} of the schema can't be told from an optional one; put the ? on its type: "string?"`,
        { at: place },
      );
    }
    const isOptional = typeof given === "string" && given.endsWith("?");
    if (!isOptional) required.push(name);
    const type = isOptional ? given.slice(0, -1) : given;
    properties.push([
      name,
      isJsonSchema(type, place, forms) ? type : fromShorthand(type, place, depth + 1, forms),
    ]);
  }
  return { type: "object", properties: Object.fromEntries(properties), required };
}

function fromWord(text: string, at: string): JsonSchema {
  const word = withoutLists(text);
  if (!Object.hasOwn(WORDS, word)) {
    throw new WaybillError(
      400,
      `the type ${describeValue(text)} at ${at || "the root"} of the schema is not known; expected ${knownWords()}, or ${HOW_TO_MARK_A_SCHEMA}`,
      { at },
    );
  }
  const nesting = (text.length - word.length) / 2;
  if (nesting > LIMITS.schemaDepth) {
    throw new WaybillError(
      413,
      `the type at ${at} is a list nested deeper than ${LIMITS.schemaDepth} levels`,
      { at },
    );
  }
  // A copy: two fields must not share one object.
  let schema: JsonSchema = { ...WORDS[word] };
  for (let level = 0; level < nesting; level += 1) schema = { type: "array", items: schema };
  return schema;
}

/** A word without its list marks. No regular expression: for many marks it would be quadratic. */
function withoutLists(text: string): string {
  let end = text.length;
  while (text.endsWith("[]", end)) end -= 2;
  return text.slice(0, end);
}

function knownWords(): string {
  return `one of ${Object.keys(WORDS).join(", ")}, with [] for a list of it and ? where it may be left out`;
}
