// The keyword `then` of JSON Schema is no promise.
/* oxlint-disable unicorn/no-thenable */
import { describe, expect, it } from "vitest";
import { JsonSchemaError } from "./error.ts";
import { compileSchema } from "./compile-schema.ts";

type Case = [name: string, schema: unknown, fitting: unknown[], failing: unknown[]];

const CASES: Case[] = [
  ["true allows all", true, [null, 1, "a", [], {}], []],
  ["false allows nothing", false, [], [null, 1, "a", [], {}]],
  ["an empty schema allows all", {}, [null, 1, "a", [], {}], []],
  ["type string", { type: "string" }, ["", "a"], [null, 1, true, [], {}]],
  [
    "type number",
    { type: "number" },
    [0, 1.5, -1e300],
    ["1", null, Infinity, Number.NaN, 1n, JSON.parse("1e400")],
  ],
  [
    "type integer",
    { type: "integer" },
    [0, -3, 1, 1e20, 2 ** 60],
    [1.5, "1", Infinity, JSON.parse("1e400")],
  ],
  ["type boolean", { type: "boolean" }, [true, false], [0, "true", null]],
  ["type null", { type: "null" }, [null], [undefined, 0, "", false]],
  ["type array", { type: "array" }, [[], [1]], [{}, "a", { length: 0 }]],
  ["type object", { type: "object" }, [{}, { a: 1 }, Object.create(null)], [[], null, "a"]],
  ["types", { type: ["string", "null"] }, ["a", null], [1, []]],
  ["const scalar", { const: 1 }, [1, 1.0], [2, "1", true, [1]]],
  ["const zero", { const: 0 }, [0, -0], [false, "", null]],
  ["const null", { const: null }, [null], [0, undefined, {}]],
  [
    "const object",
    { const: { a: [1, { b: 2 }], c: 3 } },
    [{ c: 3, a: [1, { b: 2 }] }],
    [{ a: [1, { b: 3 }], c: 3 }, {}, [], "x"],
  ],
  ["const text like another", { const: ["1,2"] }, [["1,2"]], [["1", "2"], [1, 2], '["1,2"]']],
  [
    "enum",
    { enum: ["a", 1, null, [1], { a: 1 }] },
    ["a", 1, null, [1], { a: 1 }],
    ["b", 2, [2], { a: 2 }, false],
  ],
  ["an empty enum", { enum: [] }, [], [null, 1]],
  ["minimum", { minimum: 1 }, [1, 2, "0"], [0.9, -1]],
  ["maximum", { maximum: 1 }, [1, 0, "9"], [1.1]],
  ["exclusiveMinimum", { exclusiveMinimum: 1 }, [1.1], [1, 0]],
  ["exclusiveMaximum", { exclusiveMaximum: 1 }, [0.9], [1, 2]],
  ["multipleOf whole", { multipleOf: 3 }, [0, 3, -6, 9e15, "x"], [1, 3.5]],
  ["multipleOf tenth", { multipleOf: 0.1 }, [0.1, 0.3, 0.7, 1.1, 4.35e1, 1e308], [0.05, 0.35]],
  ["multipleOf cent", { multipleOf: 0.01 }, [19.99, 0.07, 4.35, 1234567.89], [0.001, 4.355]],
  ["multipleOf tiny", { multipleOf: 1e-300 }, [1, 5e-300, 1e300], [1e-301]],
  ["multipleOf huge", { multipleOf: 1e300 }, [0, 1e301, 3e300], [1, 1e299]],
  ["minLength counts code points", { minLength: 2 }, ["ab", "😀😀", 1], ["a", "😀", ""]],
  ["maxLength counts code points", { maxLength: 2 }, ["ab", "😀😀", ""], ["abc", "😀😀😀"]],
  ["pattern is found anywhere", { pattern: "b+" }, ["abc", "b", 1], ["ac", ""]],
  ["pattern with anchors", { pattern: "^[a-z]{2}$" }, ["ab"], ["abc", "AB", "ab\n"]],
  ["format asserts nothing", { format: "email" }, ["no email", 1], []],
  ["minItems", { minItems: 1 }, [[1], "x"], [[]]],
  ["maxItems", { maxItems: 1 }, [[], [1], {}], [[1, 2]]],
  [
    "uniqueItems",
    { uniqueItems: true },
    [[], [1, "1", true, null, [1], { a: 1 }], [[1], [2]]],
    [
      [1, 1],
      [1, 2, 1.0],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[[]], [[]]],
      [0, -0],
    ],
  ],
  ["uniqueItems false", { uniqueItems: false }, [[1, 1]], []],
  [
    "prefixItems",
    { prefixItems: [{ type: "string" }, { type: "number" }] },
    [[], ["a"], ["a", 1], ["a", 1, null]],
    [[1], ["a", "b"]],
  ],
  [
    "items after prefixItems",
    { prefixItems: [true], items: { type: "number" } },
    [["a"], ["a", 1, 2]],
    [["a", "b"]],
  ],
  ["items false", { prefixItems: [true], items: false }, [[], [1]], [[1, 2]]],
  ["contains", { contains: { const: 1 } }, [[1], [0, 1], "x"], [[], [0]]],
  [
    "contains beside prefixItems",
    { prefixItems: [true], contains: { const: 1 } },
    [[0, 1]],
    [[], [0]],
  ],
  [
    "minContains and maxContains",
    { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    [
      [1, 1],
      [1, 0, 1, 1],
    ],
    [[1], [1, 1, 1, 1]],
  ],
  ["minContains 0", { contains: { const: 1 }, minContains: 0 }, [[], [0], [1]], []],
  [
    "minContains 0 with maxContains",
    { contains: { const: 1 }, minContains: 0, maxContains: 1 },
    [[], [1]],
    [[1, 1]],
  ],
  ["maxContains without contains", { maxContains: 0 }, [[1, 2]], []],
  [
    "properties",
    { properties: { a: { type: "string" } } },
    [{}, { a: "x" }, { b: 1 }, []],
    [{ a: 1 }],
  ],
  ["required", { required: ["a", "toString"] }, [{ a: 1, toString: 1 }, []], [{}, { a: 1 }]],
  [
    "an undefined member is absent",
    { required: ["a"], properties: { b: { type: "string" } } },
    [{ a: 1, b: undefined }],
    [{ a: undefined }],
  ],
  [
    "patternProperties",
    { patternProperties: { "^n": { type: "number" }, x$: { minimum: 5 } } },
    [{ n: 1, b: "x" }, { nx: 5 }],
    [{ n: "a" }, { nx: 4 }],
  ],
  [
    "additionalProperties",
    {
      properties: { a: true },
      patternProperties: { "^x-": true },
      additionalProperties: { type: "number" },
    },
    [{ a: "s", "x-b": "s", c: 1 }],
    [{ c: "s" }],
  ],
  [
    "additionalProperties false",
    { properties: { a: true }, additionalProperties: false },
    [{}, { a: 1 }],
    [{ b: 1 }, { toString: 1 }, JSON.parse('{"__proto__": 1}')],
  ],
  [
    "propertyNames",
    { propertyNames: { maxLength: 2, pattern: "^[a-z]" } },
    [{}, { ab: 1 }, "x"],
    [{ abc: 1 }, { 1: 1 }],
  ],
  ["propertyNames false", { propertyNames: false }, [{}], [{ a: 1 }]],
  [
    "minProperties and maxProperties",
    { minProperties: 1, maxProperties: 2 },
    [{ a: 1 }, { a: 1, b: undefined, c: 2 }, []],
    [{}, { a: 1, b: 1, c: 1 }, { a: undefined }],
  ],
  [
    "dependentRequired",
    { dependentRequired: { card: ["address"] } },
    [{}, { address: 1 }, { card: 1, address: 1 }],
    [{ card: 1 }],
  ],
  [
    "dependentSchemas",
    { dependentSchemas: { a: { required: ["b"] } } },
    [{}, { b: 1 }, { a: 1, b: 1 }, "x"],
    [{ a: 1 }],
  ],
  ["allOf", { allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2, "x"], [0, 3]],
  ["anyOf", { anyOf: [{ type: "string" }, { minimum: 2 }] }, ["a", 2, null], [1]],
  ["oneOf", { oneOf: [{ type: "number" }, { minimum: 2 }] }, [1, "a"], [2]],
  ["oneOf none", { oneOf: [{ const: 1 }, { const: 2 }] }, [1, 2], [3, null]],
  ["not", { not: { type: "string" } }, [1, null], ["a"]],
  [
    "if then else",
    {
      if: { properties: { k: { const: 1 } }, required: ["k"] },
      then: { required: ["a"] },
      else: { required: ["b"] },
    },
    [{ k: 1, a: 1 }, { b: 1 }, { k: 2, b: 1 }],
    [{ k: 1, b: 1 }, { k: 2 }, {}],
  ],
  ["then without if", { then: false, else: false }, [1], []],
  ["if without then", { if: false, else: { type: "string" } }, ["a"], [1]],
  [
    "unknown keywords are left alone",
    { nullable: true, "x-a": { $ref: "http://example.com" }, foo: "bar" },
    [null, 1],
    [],
  ],
  [
    "$defs and a pointer",
    { $ref: "#/$defs/a~1b~0c%25", $defs: { "a/b~c%": { type: "string" } } },
    ["a"],
    [1],
  ],
  [
    "definitions of draft-07",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      properties: { a: { $ref: "#/definitions/A" } },
      definitions: { A: { type: "string" } },
    },
    [{ a: "x" }],
    [{ a: 1 }],
  ],
  [
    "a pointer into an unknown keyword",
    {
      $ref: "#/components/schemas/A",
      components: { schemas: { A: { $ref: "#/components/schemas/B" }, B: { type: "null" } } },
    },
    [null],
    [1],
  ],
  [
    "a pointer into a list",
    { allOf: [{ type: "string" }], properties: { a: { $ref: "#/allOf/0" } } },
    ["x"],
    [1, { a: 1 }],
  ],
  [
    "a pointer to a boolean",
    { properties: { a: { $ref: "#/$defs/no" } }, $defs: { no: false } },
    [{}],
    [{ a: 1 }],
  ],
  ["$anchor", { $ref: "#here", $defs: { x: { $anchor: "here", type: "string" } } }, ["a"], [1]],
  [
    "$id within the document",
    {
      $id: "https://example.com/root",
      properties: {
        a: { $ref: "item" },
        b: { $ref: "item#part" },
        c: { $ref: "https://example.com/root#/$defs/i" },
      },
      $defs: {
        i: {
          $id: "item",
          type: "object",
          properties: { n: { $ref: "#/$defs/n" } },
          $defs: { n: { $anchor: "part", type: "number" } },
        },
      },
    },
    [{ a: { n: 1 }, b: 2, c: {} }],
    [{ a: 1 }, { a: { n: "x" } }, { b: "x" }, { c: { n: "x" } }],
  ],
  [
    "$id as an anchor, as draft-07 has it",
    { $ref: "#here", definitions: { x: { $id: "#here", type: "string" } } },
    ["a"],
    [1],
  ],
  [
    "$ref with siblings",
    { $ref: "#/$defs/s", maxLength: 2, $defs: { s: { type: "string" } } },
    ["ab"],
    ["abc", 1],
  ],
  [
    "$dynamicRef with one target",
    { $dynamicRef: "#node", $defs: { a: { $dynamicAnchor: "node", type: "string" } } },
    ["a"],
    [1],
  ],
  [
    "a tree that refers to the root",
    {
      type: "object",
      properties: { children: { type: "array", items: { $ref: "#" } } },
      additionalProperties: false,
    },
    [{}, { children: [{}, { children: [{}] }] }],
    [{ children: [{ children: [1] }] }, { children: [{ kids: [] }] }],
  ],
  [
    "items as a list, as draft-07 has it",
    { items: [{ type: "string" }], additionalItems: { type: "number" } },
    [["a", 1]],
    [[1], ["a", "b"]],
  ],
  [
    "additionalItems without a list",
    { items: { type: "string" }, additionalItems: false },
    [["a", "b"]],
    [[1]],
  ],
  [
    "dependencies of draft-07",
    { dependencies: { a: ["b"], c: { minProperties: 2 } } },
    [{}, { a: 1, b: 1 }, { c: 1, d: 1 }],
    [{ a: 1 }, { c: 1 }],
  ],
  [
    "unevaluatedProperties",
    {
      allOf: [{ properties: { a: true } }],
      $ref: "#/$defs/b",
      unevaluatedProperties: false,
      $defs: { b: { patternProperties: { "^b": true } } },
    },
    [{ a: 1, b1: 1 }, {}, "x"],
    [{ c: 1 }],
  ],
  [
    "unevaluatedProperties after alternatives",
    {
      anyOf: [
        { properties: { a: { const: 1 } }, required: ["a"] },
        { properties: { b: true }, required: ["b"] },
      ],
      unevaluatedProperties: false,
    },
    [{ a: 1 }, { b: 1 }, { a: 1, b: 1 }],
    [
      { a: 2, b: 1 },
      { a: 1, c: 1 },
    ],
  ],
  [
    "unevaluatedProperties after if",
    {
      if: { properties: { a: { const: 1 } }, required: ["a"] },
      then: { properties: { b: true } },
      else: { properties: { c: true } },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }, { c: 1 }],
    [{ a: 1, c: 1 }, { b: 1 }, { a: 2, c: 1 }],
  ],
  [
    "unevaluatedProperties ignores not",
    { not: { not: { properties: { a: true } } }, unevaluatedProperties: false },
    [{}],
    [{ a: 1 }],
  ],
  [
    "unevaluatedProperties with a schema",
    { properties: { a: true }, unevaluatedProperties: { type: "number" } },
    [{ a: "x", b: 1 }],
    [{ b: "x" }],
  ],
  [
    "unevaluatedProperties inside",
    { allOf: [{ unevaluatedProperties: { type: "number" } }], unevaluatedProperties: false },
    [{ a: 1 }],
    [{ a: "x" }],
  ],
  [
    "unevaluatedProperties sees dependentSchemas",
    {
      properties: { a: true },
      dependentSchemas: { a: { properties: { b: true } } },
      unevaluatedProperties: false,
    },
    [{ a: 1, b: 1 }],
    [{ b: 1 }],
  ],
  [
    "unevaluatedItems",
    { prefixItems: [{ type: "string" }], unevaluatedItems: false },
    [[], ["a"]],
    [["a", 1]],
  ],
  [
    "unevaluatedItems after contains",
    { contains: { type: "string" }, unevaluatedItems: { type: "number" } },
    [
      ["a", 1],
      [1, "a", 2],
    ],
    [["a", null]],
  ],
  [
    "unevaluatedItems after alternatives",
    { anyOf: [{ items: { type: "null" } }, true], unevaluatedItems: false },
    [[], [null]],
    [["a"], [null, "a"]],
  ],
  [
    "unevaluatedItems after prefixItems of a branch",
    {
      oneOf: [{ prefixItems: [{ const: 1 }, true] }, { prefixItems: [{ const: 2 }] }],
      unevaluatedItems: false,
    },
    [[1], [1, 5], [2]],
    [
      [1, 5, 6],
      [2, 3],
    ],
  ],
];

function refusalOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return JsonSchemaError.is(error) ? error.kind : `threw ${String(error)}`;
  }
}

describe("compileSchema", () => {
  it.each(CASES)("judges %s", (_, schema, fitting, failing) => {
    const compiled = compileSchema(schema);
    expect(fitting.filter((value) => compiled.check(value).length > 0)).toEqual([]);
    expect(failing.filter((value) => compiled.check(value).length === 0)).toEqual([]);
  });

  it("isn't affected by later changes of the schema", () => {
    const schema = { properties: { a: { type: "string" } } };
    const compiled = compileSchema(schema);
    schema.properties.a.type = "number";
    expect(compiled.check({ a: "x" })).toEqual([]);
  });

  it.each([
    ["http://json-schema.org/draft-07/schema#", undefined],
    ["https://json-schema.org/draft/2019-09/schema", undefined],
    ["https://json-schema.org/draft/2020-12/schema", undefined],
    ["https://example.com/my-dialect", "invalid"],
    [7, "invalid"],
  ])("knows the dialect %s: %s", ($schema, refusal) => {
    expect(refusalOf(() => compileSchema({ $schema, type: "string" }))).toBe(refusal);
  });
});

describe("issues", () => {
  const order = compileSchema({
    type: "object",
    properties: {
      "a/b": {
        type: "object",
        properties: { "~c": { type: "array", items: { type: "integer", minimum: 3 } } },
      },
      name: { type: "string", maxLength: 3, pattern: "^[a-z]*$" },
    },
    required: ["name", "id"],
    additionalProperties: false,
  });

  it("name the place, the keyword, the expected and the actual value", () => {
    expect(order.check({ "a/b": { "~c": [3, 1, "x"] }, name: "ABCD", extra: 1 })).toEqual([
      { at: "", keyword: "required", message: 'the member "id" is missing' },
      { at: "/a~1b/~0c/1", keyword: "minimum", message: "expected a number of at least 3, got 1" },
      { at: "/a~1b/~0c/2", keyword: "type", message: 'expected integer, got "x"' },
      { at: "/name", keyword: "maxLength", message: "expected at most 3 characters, got 4" },
      {
        at: "/name",
        keyword: "pattern",
        message: 'expected a string that matches ^[a-z]*$, got "ABCD"',
      },
      {
        at: "/extra",
        keyword: "additionalProperties",
        message:
          'this member isn\'t in the schema and no others are allowed; known are "a/b", "name"',
      },
    ]);
  });

  it("stop at twenty, or at the caller's limit", () => {
    const values = Array.from({ length: 1_000 }, () => "x");
    expect(compileSchema({ items: { type: "number" } }).check(values)).toHaveLength(20);
    expect(
      compileSchema({ items: { type: "number" } }, { checkIssues: 3 }).check(values),
    ).toHaveLength(3);
  });

  it("don't repeat a stranger's long text", () => {
    const [issue] = compileSchema({ type: "number" }).check("x".repeat(100_000));
    expect(issue?.message).toBe("expected number, got a string of 100000 characters");
  });

  it("explain the intended alternative, recognised by its type or by a constant member", () => {
    const shape = (kind: string, member: string): object => ({
      type: "object",
      properties: { kind: { const: kind }, [member]: { type: "number" } },
      required: ["kind", member],
    });
    const schema = compileSchema({
      anyOf: [{ $ref: "#/$defs/circle" }, shape("square", "side"), { type: "null" }],
      $defs: { circle: shape("circle", "radius") },
    });
    expect(schema.check({ kind: "circle", radius: "x" })).toEqual([
      { at: "/radius", keyword: "type", message: 'expected number, got "x"' },
    ]);
    expect(schema.check({ kind: "square" })).toEqual([
      { at: "", keyword: "required", message: 'the member "side" is missing' },
    ]);
    expect(schema.check({ kind: "oval" })[0]).toMatchObject({ at: "", keyword: "anyOf" });
    expect(schema.check("x")[0]?.message).toBe(
      'expected a value that fits one of 3 alternatives (object, null), got "x"',
    );
  });

  it("report each fault once, however many ways lead to it", () => {
    const schema = {
      allOf: Array.from({ length: 50 }, () => ({ $ref: "#/$defs/a" })),
      $defs: { a: { type: "string" } },
    };
    expect(compileSchema(schema).check(1)).toHaveLength(1);
  });
});
