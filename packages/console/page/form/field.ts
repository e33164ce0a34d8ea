import type { Json } from "@waybill/protocol";

interface Common {
  /** The member that it is in its object; empty for items of a list and for the whole value. */
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** Left empty, it is null. */
  readonly isNullable: boolean;
}

/** How one part of a value is entered. Whatever has no form of its own is entered as JSON. */
export type Field = Common &
  (
    | { readonly kind: "text"; readonly format: TextFormat; readonly isLong: boolean }
    | { readonly kind: "number"; readonly isInteger: boolean }
    | { readonly kind: "yes or no" }
    | { readonly kind: "choice"; readonly choices: readonly Json[] }
    | { readonly kind: "list"; readonly item: Field; readonly atMost: number }
    | { readonly kind: "group"; readonly members: readonly Field[] }
    | { readonly kind: "json" }
  );

/** The formats for which browsers have an input. */
export type TextFormat = "" | "date" | "date-time" | "email" | "time" | "uri";
const FORMATS: ReadonlySet<unknown> = new Set(["date", "date-time", "email", "time", "uri"]);

/** A schema comes from a stranger: beyond these limits a part of it is entered as JSON. */
export const FORM_LIMITS = {
  fields: 200,
  depth: 6,
  choices: 200,
  items: 100,
  references: 16,
  characters: 2_000,
} as const;
/** A text that may be longer gets several lines. */
const SHORT_CHARACTERS = 120;

interface Schema {
  readonly [keyword: string]: unknown;
}

interface Place {
  readonly name: string;
  readonly isRequired: boolean;
  readonly depth: number;
}

interface Scope {
  readonly root: unknown;
  left: number;
}

/** The fields for a JSON Schema. Never throws: a schema that makes no sense is entered as JSON. */
export function fieldOf(schema: unknown, label: string): Field {
  const scope: Scope = { root: schema, left: FORM_LIMITS.fields };
  const field = read(schema, { name: "", isRequired: true, depth: 0 }, scope);
  return field.label === "" ? { ...field, label } : field;
}

function read(given: unknown, place: Place, scope: Scope): Field {
  const { schema, isNullable } = resolved(given, scope.root);
  const { name, isRequired, depth } = place;
  const common = {
    name,
    label: textAt(schema, "title") ?? name.slice(0, FORM_LIMITS.characters),
    description: textAt(schema, "description"),
    isRequired,
    isNullable,
  };
  const asJson: Field = { ...common, kind: "json" };
  if (--scope.left < 0 || depth > FORM_LIMITS.depth) return asJson;
  const choices = choicesOf(schema);
  if (choices !== undefined) return { ...common, kind: "choice", choices };
  switch (schema["type"]) {
    case "string": {
      const format = FORMATS.has(schema["format"]) ? (schema["format"] as TextFormat) : "";
      const characters = schema["maxLength"];
      const isShort = typeof characters === "number" && characters <= SHORT_CHARACTERS;
      const isLong = format === "" && !isShort && schema["pattern"] === undefined;
      return { ...common, kind: "text", format, isLong };
    }
    case "number":
    case "integer":
      return { ...common, kind: "number", isInteger: schema["type"] === "integer" };
    case "boolean":
      return { ...common, kind: "yes or no" };
    case "array": {
      if (!isObject(schema["items"])) return asJson;
      const item = read(schema["items"], { name: "", isRequired: true, depth: depth + 1 }, scope);
      const most = schema["maxItems"];
      const atMost = Math.min(typeof most === "number" ? most : Infinity, FORM_LIMITS.items);
      return { ...common, kind: "list", item, atMost };
    }
    case "object": {
      const members = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : [];
      if (members.length === 0 || members.length > scope.left) return asJson;
      const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
      return {
        ...common,
        kind: "group",
        members: members.map(([member, each]) =>
          read(each, { name: member, isRequired: required.has(member), depth: depth + 1 }, scope),
        ),
      };
    }
    default:
      return asJson;
  }
}

/** Follows references within the document, and takes null out of the alternatives. */
function resolved(
  given: unknown,
  root: unknown,
): { readonly schema: Schema; readonly isNullable: boolean } {
  let schema = given;
  let isNullable = false;
  for (let count = 0; count < FORM_LIMITS.references && isObject(schema); count++) {
    const { $ref: reference, anyOf, type } = schema;
    if (typeof reference === "string") {
      schema = targetOf(reference, root);
    } else if (Array.isArray(type) && type.length === 2 && type.includes("null")) {
      isNullable = true;
      schema = { ...schema, type: type.find((each) => each !== "null") as unknown };
    } else if (Array.isArray(anyOf) && anyOf.length === 2 && anyOf.some(isNull)) {
      const { anyOf: _alternatives, ...rest } = schema;
      isNullable = true;
      const other: unknown = anyOf.find((each) => !isNull(each));
      schema = isObject(other) ? { ...other, ...rest } : rest;
    } else {
      return { schema, isNullable };
    }
  }
  return { schema: {}, isNullable };
}

function isNull(schema: unknown): boolean {
  return isObject(schema) && schema["type"] === "null";
}

function targetOf(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#")) return undefined;
  let found = root;
  for (const step of reference.slice(1).split("/").slice(1, FORM_LIMITS.references)) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

function choicesOf(schema: Schema): readonly Json[] | undefined {
  if (Object.hasOwn(schema, "const")) return [schema["const"] as Json];
  const { enum: values } = schema;
  const isList = Array.isArray(values) && values.length > 0;
  return isList && values.length <= FORM_LIMITS.choices ? (values as Json[]) : undefined;
}

function textAt(schema: Schema, member: string): string | undefined {
  const value = schema[member];
  return typeof value === "string" && value.trim() !== ""
    ? value.slice(0, FORM_LIMITS.characters)
    : undefined;
}

/** Whether a value is an object, and no list. */
export function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
