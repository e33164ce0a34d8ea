import { describe, expect, it } from "vitest";
import { WaybillError } from "../error.ts";
import { compileSchema, normalizeSchema, schemaAllowance } from "./schema.ts";

function errorOf(input: unknown): WaybillError {
  try {
    normalizeSchema(input);
  } catch (error) {
    if (WaybillError.is(error)) return error;
  }
  throw new Error("expected a WaybillError");
}

function fields(properties: Record<string, unknown>, required = Object.keys(properties)): unknown {
  return { type: "object", properties, required };
}

const text = { type: "string" };
const list = { type: "array" };

describe("normalizeSchema", () => {
  it("reads the schemas of the founding document", () => {
    expect(normalizeSchema({ query: "string", depth: "int" })).toEqual({
      type: "object",
      properties: { query: { type: "string" }, depth: { type: "integer" } },
      required: ["query", "depth"],
    });
    const output = compileSchema(normalizeSchema({ sources: "array", summary: "string" }));
    expect(output.check({ sources: [], summary: "s", more: 1 })).toEqual([]);
    expect(output.check({ sources: "none" })).toHaveLength(2);
  });

  it.each([
    ["string", text],
    ["int", { type: "integer" }],
    ["integer", { type: "integer" }],
    ["float", { type: "number" }],
    ["number", { type: "number" }],
    ["bool", { type: "boolean" }],
    ["boolean", { type: "boolean" }],
    ["array", list],
    ["list", list],
    ["object", { type: "object" }],
    ["dict", { type: "object" }],
    ["null", { type: "null" }],
    ["any", {}],
    ["string[]", { type: "array", items: text }],
    ["any[]", { type: "array", items: {} }],
    ["int[][]", { type: "array", items: { type: "array", items: { type: "integer" } } }],
  ])("reads the word %s alone, as a field and as an optional field", (word, schema) => {
    expect(normalizeSchema(word)).toEqual(schema);
    expect(normalizeSchema({ field: word })).toEqual(fields({ field: schema }));
    expect(normalizeSchema({ field: `${word}?` })).toEqual(fields({ field: schema }, []));
  });

  it("gives each field a schema of its own", () => {
    const { properties } = normalizeSchema({ a: "string", b: "string" }) as {
      properties: { a: object; b: object };
    };
    expect(properties.a).not.toBe(properties.b);
  });

  it("accepts nested objects, and JSON Schema for single fields", () => {
    expect(
      normalizeSchema({
        user: { name: "string", age: "int?" },
        limit: { type: "integer", minimum: 1 },
        tags: {},
      }),
    ).toEqual(
      fields({
        user: fields({ name: text, age: { type: "integer" } }, ["name"]),
        limit: { type: "integer", minimum: 1 },
        tags: {},
      }),
    );
  });

  it.each<[string, unknown]>([
    ["true", true],
    ["false", false],
    ["an empty one", {}],
    ["a lone type", { type: "string" }],
    ["a lone list of types", { type: ["string", "null"] }],
    ["type object", { type: "object" }],
    ["type with annotations", { type: "string", description: "string" }],
    ["type with a constant that is a word", { type: "string", const: "list" }],
    ["type with OpenAPI's annotations", { type: "string", nullable: true, example: "string" }],
    ["an extension", { type: "string", "x-order": 1 }],
    [
      "$schema, whatever else there is",
      { $schema: "https://json-schema.org/draft/2020-12/schema", query: "string" },
    ],
    ["$ref", { $ref: "#/$defs/a", $defs: { a: {} } }],
    ["$defs with an unknown keyword", { $defs: {}, name: "string" }],
    ["properties without type", { properties: { query: { type: "string" } } }],
    [
      "properties of the founding document's names",
      { type: "object", properties: { type: { type: "string" }, name: true } },
    ],
    ["empty properties", { properties: {} }],
    ["anyOf", { anyOf: [{ type: "string" }, { type: "null" }] }],
    ["enum", { enum: ["string", "int"] }],
    ["an unknown keyword with a text", { type: "number", description: "How far", unit: "km" }],
    ["const of another kind", { const: 5 }],
    ["required alone", { required: ["a"] }],
    ["a description in words", { description: "What to look for" }],
    ["a pattern", { pattern: "^a" }],
    ["items of a schema", { items: { type: "string" } }],
    ["items in draft-07's form", { items: [{ type: "string" }] }],
    ["additionalProperties", { additionalProperties: false }],
    ["a draft-07 schema", { definitions: { a: { type: "string" } }, not: { type: "null" } }],
    [
      "unknown keywords that no shorthand would have",
      { type: "object", properties: {}, propertyOrdering: ["a"], weight: 5 },
    ],
  ])("leaves a JSON Schema as it is: %s", (_, schema) => {
    expect(normalizeSchema(schema)).toBe(schema);
  });

  it.each<[string, unknown, unknown]>([
    [
      "a field named type beside another",
      { type: "string", name: "string" },
      fields({ type: text, name: text }),
    ],
    [
      "a field named type of a shorthand word",
      { type: "int" },
      fields({ type: { type: "integer" } }),
    ],
    ["an optional field named type", { type: "string?" }, fields({ type: text }, [])],
    [
      "a field named type that is a list of texts",
      { type: "string[]" },
      fields({ type: { type: "array", items: text } }),
    ],
    [
      "fields named like annotations",
      { title: "string", description: "string" },
      fields({ title: text, description: text }),
    ],
    ["a field named pattern", { pattern: "string" }, fields({ pattern: text })],
    ["a field named format", { format: "string?" }, fields({ format: text }, [])],
    [
      "fields named default and const",
      { default: "any", const: "int" },
      fields({ default: {}, const: { type: "integer" } }),
    ],
    [
      "fields named like number keywords",
      { minimum: "int", maximum: "int" },
      fields({ minimum: { type: "integer" }, maximum: { type: "integer" } }),
    ],
    ["a field named required", { required: "bool" }, fields({ required: { type: "boolean" } })],
    ["a field named enum", { enum: "string[]" }, fields({ enum: { type: "array", items: text } })],
    [
      "a field named items that is an object",
      { items: { name: "string" } },
      fields({ items: fields({ name: text }) }),
    ],
    ["a field named items that is a list", { items: "array" }, fields({ items: list })],
    [
      "a field named properties that is an object",
      { properties: { size: { width: "int" } } },
      fields({ properties: fields({ size: fields({ width: { type: "integer" } }) }) }),
    ],
    [
      "fields named type and properties",
      { type: "string", properties: { name: "string" } },
      fields({ type: text, properties: fields({ name: text }) }),
    ],
    [
      "fields named like members of every object",
      { toString: "string", valueOf: "int" },
      fields({ toString: text, valueOf: { type: "integer" } }),
    ],
  ])("reads shorthand: %s", (_, input, schema) => {
    expect(normalizeSchema(input)).toEqual(schema);
    expect(compileSchema(normalizeSchema(input)).check("text")).toHaveLength(1);
  });

  it.each<[string, unknown, string, RegExp]>([
    ["an unknown word", { query: "text" }, "/query", /"text".*one of string, int, integer, .*any/],
    ["a word in the wrong case", { query: "String" }, "/query", /"String"/],
    [
      "a misspelt word beside type",
      { type: "string", name: "strnig" },
      "/name",
      /"strnig".*\$schema/,
    ],
    [
      "a description among fields",
      { description: "What to look for", query: "string" },
      "",
      /mixes.*"query".*"description"/,
    ],
    [
      "a misspelt field beside a description",
      { description: "A search", query: "strnig" },
      "",
      /mixes/,
    ],
    ["a bound among fields", { query: "string", minimum: 5 }, "", /mixes.*"query".*"minimum"/],
    ["required beside fields", { query: "string", required: ["query"] }, "", /mixes.*"properties"/],
    ["an object beside keywords", { anyOf: [], user: { name: "string" } }, "", /mixes/],
    ["the same inside", { a: { query: "string", required: ["query"] } }, "/a", /mixes/],
    [
      "a broken schema inside a JSON Schema",
      { type: "object", properties: { a: { type: "strng" } } },
      "/properties/a/type",
      /"strng"/,
    ],
    [
      "the same beside a keyword",
      { properties: { a: { type: "strng" } }, required: ["a"] },
      "",
      /mixes.*correct what is in there/,
    ],
    ["an unknown word inside", { a: { b: "text" } }, "/a/b", /"text"/],
    ["a name of every object as a word", { a: "toString" }, "/a", /"toString"/],
    ["an empty word", { a: "" }, "/a", /is not known/],
    ["a lone question mark", { a: "?" }, "/a", /is not known/],
    ["a list of what may be left out", { a: "string?[]" }, "/a", /is not known/],
    ["a ? on the name", { "a?": "string" }, "/a?", /put the \? on its type/],
    ["a list with a word in it", { a: ["string"] }, "/a", /write "string\[\]"/],
    ["a number", { a: 5 }, "/a", /is 5/],
    ["null", null, "", /is null/],
    ["nothing", undefined, "", /nothing/],
    ["a list", ["string"], "", /is an array/],
  ])("refuses with 400 and says what to write: %s", (_, input, at, reason) => {
    const error = errorOf(input);
    expect(error).toMatchObject({ status: 400, at });
    expect(error.message).toMatch(reason);
  });

  it.each(["__proto__", "constructor", "prototype"])("refuses a field named %s", (name) => {
    expect(errorOf(JSON.parse(`{${JSON.stringify(name)}: "string"}`)).status).toBe(400);
    expect(errorOf(JSON.parse(`{"a": {${JSON.stringify(name)}: "string"}}`)).status).toBe(400);
  });

  it("refuses large and deep input with 413", () => {
    let deep: unknown = { a: "string" };
    let proven: unknown = { a: "text" };
    for (let level = 0; level < 100_000; level += 1) deep = { a: deep };
    expect(errorOf(deep).status).toBe(413);
    const holder: Record<string, unknown> = {};
    holder["a"] = holder;
    expect(errorOf(holder).status).toBe(413);
    expect(errorOf({ a: `string${"[]".repeat(50_000)}` }).status).toBe(413);
    expect(
      errorOf(
        Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`a${index}`, "int"])),
      ).status,
    ).toBe(413);
    // The levels above ask each level for its form: that must not multiply.
    for (let level = 0; level < 60; level += 1) proven = { items: proven, not: { type: "string" } };
    expect(normalizeSchema(proven)).toBe(proven);
  });

  it("reads a type with many list marks in linear time", () => {
    expect(errorOf({ a: `${"[]".repeat(400_000)}x` }).status).toBe(400);
    expect(errorOf({ a: `string${"[]".repeat(400_000)}?` }).status).toBe(413);
  });

  it("charges its reading to an allowance that several schemas share", () => {
    const allowance = schemaAllowance();
    const before = allowance.characters;
    normalizeSchema({ a: "string" }, allowance);
    const taken = before - allowance.characters;
    expect(taken).toBeGreaterThan("astring".length);
    normalizeSchema({ a: "string" }, allowance);
    expect(allowance.characters).toBe(before - 2 * taken);
    allowance.characters = taken - 1;
    expect(() => normalizeSchema({ a: "string" }, allowance)).toThrow(/too large together/);
  });
});
