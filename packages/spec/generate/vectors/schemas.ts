import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { many } from "./text.ts";
import type { Text } from "./text.ts";

type Issue = readonly [at: string, keyword: string];

function judged(
  rules: readonly number[],
  title: string,
  schema: unknown,
  value: unknown,
  ...issues: readonly Issue[]
): Row {
  const expect = { status: "ok", issues: issues.map(([at, keyword]) => ({ at, keyword })) };
  return { rules, title, input: { schema, value }, expect };
}

function refused(
  rules: readonly number[],
  title: string,
  schema: unknown,
  status: number = 400,
): Row {
  return { rules, title, input: { schema }, expect: { status } };
}

function refusedText(
  rules: readonly number[],
  title: string,
  schema_text: Text,
  status: number,
): Row {
  return { rules, title, input: { schema_text }, expect: { status } };
}

function normalized(title: string, schema: unknown, json_schema: unknown): Row {
  return {
    rules: [66],
    title,
    input: { schema },
    expect: { status: "ok", normalized: json_schema },
  };
}

const object = (properties: Record<string, unknown>, required: readonly string[]): object => ({
  type: "object",
  properties,
  required,
});

const SHORTHAND: readonly Row[] = [
  normalized(
    "every word",
    {
      a: "string",
      b: "int",
      c: "integer",
      d: "float",
      e: "number",
      f: "bool",
      g: "boolean",
      h: "array",
      i: "list",
      j: "object",
      k: "dict",
      l: "null",
      m: "any",
    },
    object(
      {
        a: { type: "string" },
        b: { type: "integer" },
        c: { type: "integer" },
        d: { type: "number" },
        e: { type: "number" },
        f: { type: "boolean" },
        g: { type: "boolean" },
        h: { type: "array" },
        i: { type: "array" },
        j: { type: "object" },
        k: { type: "object" },
        l: { type: "null" },
        m: {},
      },
      [..."abcdefghijklm"],
    ),
  ),
  normalized(
    "a field that may be left out",
    { query: "string", depth: "int?" },
    object({ query: { type: "string" }, depth: { type: "integer" } }, ["query"]),
  ),
  normalized(
    "a list of a type",
    { tags: "string[]" },
    object({ tags: { type: "array", items: { type: "string" } } }, ["tags"]),
  ),
  normalized(
    "an object in an object",
    { where: { lat: "float", lon: "float" } },
    object(
      { where: object({ lat: { type: "number" }, lon: { type: "number" } }, ["lat", "lon"]) },
      ["where"],
    ),
  ),
  normalized(
    "a JSON Schema stays what it is",
    { type: "object", properties: { type: { type: "string" } } },
    { type: "object", properties: { type: { type: "string" } } },
  ),
  normalized(
    "fields that are named like keywords",
    { type: "string", name: "string" },
    object({ type: { type: "string" }, name: { type: "string" } }, ["type", "name"]),
  ),
  normalized("an empty object allows everything", {}, {}),
  refused([66], "a type that there is not", { query: "text" }),
  refused([66], "a list for a type", { query: ["string"] }),
  refused([66], "the two forms mixed", { properties: { a: { type: "string" } }, query: "string" }),
];

const JUDGED: readonly Row[] = [
  judged(
    [66],
    "the founding document's input, as wanted",
    { query: "string", depth: "int" },
    { query: "tides", depth: 2 },
  ),
  judged([66], "a member is missing", { query: "string", depth: "int" }, { query: "tides" }, [
    "",
    "required",
  ]),
  judged(
    [66],
    "a member of another type",
    { query: "string", depth: "int" },
    { query: "tides", depth: "2" },
    ["/depth", "type"],
  ),
  judged([66], "half an integer", { depth: "int" }, { depth: 2.5 }, ["/depth", "type"]),
  judged(
    [66],
    "an integer that is written with a fraction of zero",
    { depth: "int" },
    { depth: 2.0 },
  ),
  judged(
    [66],
    "two faults",
    { query: "string", depth: "int" },
    { query: 1, depth: "x" },
    ["/query", "type"],
    ["/depth", "type"],
  ),
  judged([66], "an enumeration", { enum: ["a", 1, null, { x: [1] }] }, { x: [1] }),
  judged([66], "none of an enumeration", { enum: ["a", 1] }, "1", ["", "enum"]),
  judged([66], "bounds of a number", { type: "number", minimum: 1, exclusiveMaximum: 2 }, 2, [
    "",
    "exclusiveMaximum",
  ]),
  judged([66], "a multiple in decimals", { multipleOf: 0.1 }, 0.3),
  judged([66], "the length of a text is in characters", { maxLength: 2 }, "🌊🌊"),
  judged([66], "a text that is too long", { maxLength: 2 }, "🌊🌊🌊", ["", "maxLength"]),
  judged(
    [66],
    "items, one of them wrong",
    { type: "array", items: { type: "integer" } },
    [1, "2", 3],
    ["/1", "type"],
  ),
  judged(
    [66],
    "the same item twice",
    { uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    ["", "uniqueItems"],
  ),
  judged(
    [66],
    "first items and the rest",
    { prefixItems: [{ type: "string" }], items: false },
    ["a", 1],
    ["/1", "false"],
  ),
  judged(
    [66],
    "a member that is not allowed",
    { properties: { a: {} }, additionalProperties: false },
    { a: 1, "b/c": 2 },
    ["/b~1c", "additionalProperties"],
  ),
  judged(
    [66],
    "a reference inside the document",
    { $defs: { n: { type: "integer" } }, properties: { a: { $ref: "#/$defs/n" } } },
    { a: "x" },
    ["/a", "type"],
  ),
  judged(
    [66],
    "a reference with siblings",
    { $defs: { n: { type: "integer" } }, $ref: "#/$defs/n", minimum: 3 },
    2,
    ["", "minimum"],
  ),
  judged(
    [67],
    "a tree whose children are trees",
    {
      $defs: {
        tree: {
          type: "object",
          properties: { children: { type: "array", items: { $ref: "#/$defs/tree" } } },
        },
      },
      $ref: "#/$defs/tree",
    },
    { children: [{ children: [{ children: 1 }] }] },
    ["/children/0/children/0/children", "type"],
  ),
  judged([66], "exactly one of two", { oneOf: [{ type: "integer" }, { minimum: 2 }] }, 3, [
    "",
    "oneOf",
  ]),
  judged([66], "none of a form that is ruled out", { not: { type: "string" } }, "x", ["", "not"]),
  judged(
    [66],
    "if and then",
    JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}'),
    { a: 1 },
    ["", "required"],
  ),
  judged(
    [66],
    "what no other keyword looked at",
    { properties: { a: {} }, unevaluatedProperties: false },
    { a: 1, b: 2 },
    ["/b", "unevaluatedProperties"],
  ),
  judged([66], "format asserts nothing", { type: "string", format: "email" }, "not an address"),
  judged([66], "false allows nothing", { properties: { a: false } }, { a: 1 }, ["/a", "false"]),
];

const PATTERNS: readonly Row[] = [
  judged([68], "a pattern is found anywhere", { pattern: "b+" }, "abbc"),
  judged([68], "a pattern is not found", { pattern: "^b+$" }, "abbc", ["", "pattern"]),
  judged([68], "a dollar sign is the end and nothing before it", { pattern: "^a$" }, "a\n", [
    "",
    "pattern",
  ]),
  judged([68], "a digit is one of ten", { pattern: "^\\d$" }, "\u0667", ["", "pattern"]),
  judged([68], "a character beyond the basic plane is one", { pattern: "^.$" }, "🌊"),
  judged([68], "a Unicode property", { pattern: "^\\p{Lu}$" }, "É"),
  judged(
    [68],
    "nested repetition over a text that does not fit",
    { pattern: "^(a+)+$" },
    `${"a".repeat(5000)}b`,
    ["", "pattern"],
  ),
  judged(
    [68],
    "alternatives that overlap, repeated",
    { pattern: "^(a|a|a|aa)*$" },
    `${"a".repeat(5000)}b`,
    ["", "pattern"],
  ),
  judged(
    [68],
    "many optional letters before the same letters",
    { pattern: `^${"a?".repeat(60)}${"a".repeat(60)}$` },
    "a".repeat(59),
    ["", "pattern"],
  ),
  judged(
    [68],
    "a pattern for names, over a long one",
    { patternProperties: { "^(x+x+)+y$": false } },
    { ["x".repeat(3000)]: 1 },
  ),
  refused([68], "a backreference", { pattern: "(a)\\1" }),
  refused([68], "a named backreference", { pattern: "(?<n>a)\\k<n>" }),
  refused([68], "a lookahead", { pattern: "a(?=b)" }),
  refused([68], "a negative lookahead", { pattern: "^(?!admin)" }),
  refused([68], "a lookbehind", { pattern: "(?<=a)b" }),
  refused([68], "a negative lookbehind", { pattern: "(?<!a)b" }),
  refused([68], "a lookahead in a pattern for names", { patternProperties: { "(?=a)": true } }),
  refused([68], "a pattern that is none", { pattern: "(" }),
  refused([69], "a repetition that expands to a million", { pattern: "((a{100}){100}){100}" }, 413),
];

const BOUNDS: readonly Row[] = [
  refused([67], "a remote reference", { $ref: "https://example.com/schema.json" }),
  refused([67], "a remote reference to the cloud's own address", {
    $ref: "http://169.254.169.254/latest/meta-data",
  }),
  refused([67], "a reference to a file", { $ref: "file:///etc/passwd" }),
  refused([67], "a relative reference", { $ref: "other.json#/a" }),
  refused([67], "a remote reference that nothing asks for", {
    $defs: { unused: { $ref: "//example.com/x" } },
  }),
  refused([67], "a reference that leads nowhere", { $ref: "#/$defs/none" }),
  refused([67], "a reference to an anchor that there is not", { $ref: "#none" }),
  refused([67], "a schema that is its own reference", { $ref: "#" }),
  refused([67], "two references in a circle", {
    $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
    $ref: "#/$defs/a",
  }),
  refused([67], "a circle through allOf", {
    $defs: { a: { allOf: [{ $ref: "#/$defs/b" }] }, b: { anyOf: [true, { $ref: "#/$defs/a" }] } },
    $ref: "#/$defs/a",
  }),
  refused([67], "a circle through not", {
    $defs: { a: { not: { $ref: "#/$defs/a" } } },
    $ref: "#/$defs/a",
  }),
  refused(
    [8],
    "a schema that speaks of __proto__",
    JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
  ),
  refusedText(
    [69],
    "33 schemas inside a schema",
    { concat: [many('{"type":"array","items":', 33), "{}", many("}", 33)] },
    413,
  ),
  refusedText(
    [69],
    "a hundred thousand schemas inside a schema",
    { concat: [many('{"not":', 100_000), "{}", many("}", 100_000)] },
    413,
  ),
  refusedText([69], "10,001 schemas", { concat: ['{"anyOf":[', many("{},", 9_999), "{}]}"] }, 413),
  {
    rules: [69],
    title: "32 schemas inside a schema",
    input: { schema_text: { concat: [many('{"type":"array","items":', 32), "{}", many("}", 32)] } },
    expect: { status: "ok" },
  },
  {
    rules: [69],
    title: "10,000 schemas",
    input: { schema_text: { concat: ['{"anyOf":[', many("{},", 9_998), "{}]}"] } },
    expect: { status: "ok" },
  },
  {
    rules: [69, 75],
    title: "a schema and a value that together cost too much",
    input: {
      schema_text: {
        concat: ['{"items":{"allOf":[', many('{"not":{"const":7}},', 3_999), '{"minimum":0}]}}'],
      },
      value_text: { concat: ["[", many("1,", 399_999), "1]"] },
    },
    expect: { status: 413 },
  },
  {
    rules: [69],
    title: "a hundred thousand numbers under a plain schema",
    input: {
      schema: { type: "array", items: { type: "integer", minimum: 0 } },
      value_text: { concat: ["[", many("12,", 99_999), "12]"] },
    },
    expect: { status: "ok", fits: true },
  },
  {
    rules: [68, 69],
    title: "a megabyte of text under a plain pattern",
    input: {
      schema: { pattern: "^(?:[0-9A-Za-z+/]{4})*$" },
      value_text: { concat: ['"', many("QUJD", 250_000), '"'] },
    },
    expect: { status: "ok", fits: true },
  },
];

/** Nested alternatives: trying each combination would take 2^20 steps. */
function doubled(levels: number): unknown {
  const $defs: Record<string, unknown> = { n0: { type: "integer" } };
  for (let n = 1; n <= levels; n++) {
    $defs[`n${n}`] = {
      anyOf: [{ $ref: `#/$defs/n${n - 1}` }, { allOf: [{ $ref: `#/$defs/n${n - 1}` }] }],
    };
  }
  return { $defs, $ref: `#/$defs/n${levels}` };
}

export const SCHEMAS: VectorFile = vectorFile(
  "schemas",
  "schema",
  "Schemas of strangers, and values to hold against them.",
  [
    ...SHORTHAND,
    ...JUDGED,
    ...PATTERNS,
    ...BOUNDS,
    judged(
      [69],
      "alternatives that double at each of 20 levels, and a value that fits",
      doubled(20),
      1,
    ),
    {
      rules: [69],
      title: "alternatives that double at each of 20 levels, and a value that fits none",
      input: { schema: doubled(20), value: "x" },
      expect: { status: "ok", fits: false },
    },
  ],
);
