// The keyword `then` of JSON Schema is no promise.
/* oxlint-disable unicorn/no-thenable */
import { describe, expect, it } from "vitest";
import { JsonSchemaError } from "./error.ts";
import { compileSchema } from "./compile-schema.ts";
import { SCHEMA_LIMITS } from "./limits.ts";
import type { SchemaLimits } from "./limits.ts";

function refusalOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return JsonSchemaError.is(error) ? error.kind : `threw ${String(error)}`;
  }
}

function errorOf(action: () => unknown): JsonSchemaError {
  try {
    action();
  } catch (error) {
    if (JsonSchemaError.is(error)) return error;
  }
  throw new Error("expected a JsonSchemaError");
}

describe("schemas from strangers", () => {
  it.each([
    "http://169.254.169.254/latest/meta-data",
    "https://example.com/schema.json",
    "HTTPS://EXAMPLE.COM/schema.json#/$defs/a",
    "//example.com/schema.json",
    "file:///etc/passwd",
    "other.json",
    "./other.json#/a",
    "../other.json",
    "/etc/passwd",
    "urn:example:schema",
    "data:application/json,{}",
    "javascript:alert(1)",
    "?query",
    "%23/$defs/a",
    "\\\\host\\share",
    " #/$defs/a",
  ])("are refused if a reference leads out of the document: %s", ($ref) => {
    const $defs = { a: {} };
    const places = [
      { $ref, $defs },
      { properties: { x: { items: { $ref } } }, $defs },
      { not: { $dynamicRef: $ref }, $defs },
    ];
    for (const schema of places) {
      const error = errorOf(() => compileSchema(schema));
      expect(error).toMatchObject({ kind: "invalid" });
      expect(error.message).toMatch(/leads out of this document.*nothing is ever fetched/);
    }
  });

  it.each([
    ["#/$defs/none", /leads nowhere/],
    ["#/$defs/none/deeper", /leads nowhere/],
    ["#/$defs/toString", /leads nowhere/],
    ["#/constructor", /leads nowhere/],
    ["#/__proto__", /leads nowhere/],
    ["#/$defs/__proto__", /leads nowhere/],
    ["#/allOf/1", /leads nowhere/],
    ["#/allOf/length", /leads nowhere/],
    ["#/allOf/-1", /leads nowhere/],
    ["#/$id/length", /leads nowhere/],
    ["#none", /anchor/],
    ["#a b", /anchor/],
    ["#/$defs/%", /escape/],
    ["#/title", /expected a schema/],
    ["#/allOf", /expected a schema/],
  ])("are refused if a reference has no target: %s", ($ref, reason) => {
    const error = errorOf(() =>
      compileSchema({ $id: "x", title: "t", allOf: [{}], not: { $ref }, $defs: { a: {} } }),
    );
    expect(error.kind).toBe("invalid");
    expect(error.message).toMatch(reason);
  });

  const self = { $ref: "#/$defs/a" };
  it.each<[string, unknown]>([
    ["to itself", { $ref: "#" }],
    ["to itself by its name", { $id: "me", $ref: "me" }],
    ["to itself by its anchor", { $anchor: "me", $ref: "#me" }],
    ["to itself dynamically", { $dynamicAnchor: "me", $dynamicRef: "#me" }],
    ["mutually", { ...self, $defs: { a: { $ref: "#/$defs/b" }, b: self } }],
    ["among definitions that nobody uses", { $defs: { a: { $ref: "#/$defs/b" }, b: self } }],
    ["through allOf", { $defs: { a: { allOf: [{}, self] } } }],
    ["through anyOf", { $defs: { a: { anyOf: [true, self] } } }],
    ["through oneOf", { $defs: { a: { oneOf: [self, true] } } }],
    ["through not", { not: { $ref: "#" } }],
    ["through if", { if: { $ref: "#" } }],
    ["through then", { if: true, then: { $ref: "#" } }],
    ["through else", { if: true, else: { $ref: "#" } }],
    ["through dependentSchemas", { dependentSchemas: { a: { $ref: "#" } } }],
    ["through dependencies", { dependencies: { a: { $ref: "#" } } }],
    ["through unknown keywords", { $ref: "#/x/y", x: { y: { allOf: [{ $ref: "#/x/y" }] } } }],
    [
      "over a hundred steps",
      {
        $ref: "#/$defs/0",
        $defs: Object.fromEntries(
          Array.from({ length: 100 }, (_, index) => [
            index,
            { $ref: `#/$defs/${(index + 1) % 100}` },
          ]),
        ),
      },
    ],
  ])("are refused if a reference returns to the same value %s", (_, schema) => {
    const error = errorOf(() => compileSchema(schema));
    expect(error.kind).toBe("invalid");
    expect(error.message).toMatch(/never ends/);
  });

  it("may refer to themselves for a part of the value", () => {
    for (const keyword of [
      "items",
      "additionalProperties",
      "unevaluatedProperties",
      "contains",
      "propertyNames",
    ]) {
      expect(refusalOf(() => compileSchema({ [keyword]: { $ref: "#" } }))).toBeUndefined();
    }
    for (const keyword of ["properties", "patternProperties"]) {
      expect(refusalOf(() => compileSchema({ [keyword]: { a: { $ref: "#" } } }))).toBeUndefined();
    }
  });

  it.each<[string, unknown, RegExp]>([
    ["not a schema", "string", /expected a schema/],
    ["null", null, /expected a schema/],
    ["a list", [], /expected a schema/],
    ["an unknown type", { type: "int" }, /expected one or more of null/],
    ["no type", { type: [] }, /expected one or more of null/],
    ["a negative length", { minLength: -1 }, /whole number/],
    ["half an item", { minItems: 1.5 }, /whole number/],
    [
      "draft-04's exclusiveMinimum",
      { minimum: 1, exclusiveMinimum: true },
      /expected a number, got true/,
    ],
    ["a bound that is no number", { maximum: JSON.parse("1e400") }, /expected a number/],
    ["a zero divisor", { multipleOf: 0 }, /above 0/],
    [
      "required as a flag",
      { properties: { a: { required: true } } },
      /at \/properties\/a\/required: expected an array/,
    ],
    ["a schema that is a number", { items: 1 }, /expected a schema/],
    ["no alternatives", { anyOf: [] }, /at least one schema/],
    ["a name in a list twice", { required: ["a", "a"] }, /twice/],
    ["a pattern with lookahead", { pattern: "^(?!a)" }, /at \/pattern: .*lookahead/],
    [
      "a pattern for names with a backreference",
      { patternProperties: { "(a)\\1": true } },
      /backreferences/,
    ],
    ["an anchor that is no name", { $anchor: "a b" }, /plain name/],
    ["an anchor twice", { $defs: { a: { $anchor: "x" }, b: { $anchor: "x" } } }, /twice/],
    ["an $id twice", { $defs: { a: { $id: "x" }, b: { $id: "x" } } }, /twice/],
    ["an $id with a fragment", { $id: "x#y" }, /not have a fragment/],
    [
      "several dynamic anchors",
      {
        $dynamicRef: "#n",
        $defs: {
          a: { $dynamicAnchor: "n" },
          b: { $id: "b", $dynamicAnchor: "n" },
          c: { $id: "c", $dynamicAnchor: "n" },
        },
      },
      /dynamic scope/,
    ],
    ["$recursiveRef", { items: { $recursiveRef: "#" } }, /\$recursiveRef/],
    ["both forms of prefixItems", { prefixItems: [true], items: [true] }, /expected a schema/],
  ])("are refused as invalid: %s", (_, schema, reason) => {
    const error = errorOf(() => compileSchema(schema));
    expect(error.kind).toBe("invalid");
    expect(error.message).toMatch(reason);
  });

  it.each(["__proto__", "constructor", "prototype"])("are refused if they name %s", (name) => {
    const key = JSON.stringify(name);
    const texts = [
      `{${key}: {"type": "string"}}`,
      `{"properties": {${key}: {"type": "string"}}}`,
      `{"patternProperties": {"a": {"items": {${key}: true}}}}`,
      `{"$defs": {${key}: {}}}`,
      `{"const": {"a": [{${key}: 1}]}}`,
      `{"enum": [{${key}: 1}]}`,
      `{"unknown": {${key}: 1}}`,
      `{"required": [${key}]}`,
      `{"dependentRequired": {"a": [${key}]}}`,
      `{"dependentSchemas": {${key}: {}}}`,
      `{"default": {${key}: {"polluted": true}}}`,
    ];
    for (const text of texts) {
      const error = errorOf(() => compileSchema(JSON.parse(text)));
      expect([text, error.kind]).toEqual([text, "invalid"]);
      expect(error.message).toContain("reserved");
    }
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it("validate values with such names without touching a prototype", () => {
    const value = JSON.parse(
      '{"__proto__": {"a": "x"}, "constructor": 1, "prototype": [1, 1]}',
    ) as object;
    expect(
      compileSchema({ additionalProperties: { type: "number" } })
        .check(value)
        .map(({ at }) => at),
    ).toEqual(["/__proto__", "/prototype"]);
    expect(compileSchema({ properties: { a: { type: "number" } } }).check(value)).toEqual([]);
    expect(compileSchema({ required: ["toString"] }).check(value)).toHaveLength(1);
    expect(compileSchema({ const: {} }).check(value)).toHaveLength(1);
    expect(compileSchema({ maxProperties: 2 }).check(value)).toHaveLength(1);
  });

  const nest = (depth: number, wrap: (inner: unknown) => unknown): unknown => {
    let schema: unknown = {};
    for (let level = 0; level < depth; level += 1) schema = wrap(schema);
    return schema;
  };

  it.each<[string, (inner: unknown) => unknown]>([
    ["not", (inner) => ({ not: inner })],
    ["items", (inner) => ({ items: inner })],
    ["properties", (inner) => ({ properties: { a: inner } })],
    ["allOf", (inner) => ({ allOf: [inner] })],
    ["$defs", (inner) => ({ $defs: { a: inner } })],
    ["an unknown keyword", (inner) => ({ unknown: [inner] })],
    ["const", (inner) => ({ const: [inner] })],
  ])("are refused by a limit if they are a million levels deep: %s", (_, wrap) => {
    expect(refusalOf(() => compileSchema(nest(1_000_000, wrap)))).toBe("limit");
    expect(refusalOf(() => compileSchema({ properties: { a: nest(200, wrap) } }))).toBe("limit");
  });

  it("may be nested as deep as the limit and no deeper", () => {
    const { schemaDepth } = SCHEMA_LIMITS;
    const wrap = (inner: unknown): object => ({ type: "object", properties: { a: inner } });
    expect(refusalOf(() => compileSchema(nest(schemaDepth, wrap)))).toBeUndefined();
    expect(refusalOf(() => compileSchema(nest(schemaDepth + 1, wrap)))).toBe("limit");
    expect(refusalOf(() => compileSchema(nest(5, wrap), { schemaDepth: 4 }))).toBe("limit");
  });

  it("are refused by a limit if JSON text has deeply nested brackets", () => {
    const text = `${'{"not":'.repeat(5_000)}{}${"}".repeat(5_000)}`;
    expect(refusalOf(() => compileSchema(JSON.parse(text)))).toBe("limit");
  });

  const many = (count: number): Record<string, unknown> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, {}]));

  it.each<[string, () => unknown]>([
    ["100,000 properties", () => ({ properties: many(100_000) })],
    ["100,000 definitions", () => ({ $defs: many(100_000) })],
    ["100,000 unknown keywords", () => many(100_000)],
    ["100,000 members of a constant", () => ({ const: many(100_000) })],
    [
      "more schemas than the limit, spread out",
      () => ({ allOf: [{ properties: many(6_000) }, { properties: many(6_000) }] }),
    ],
    ["10,001 members of a constant", () => ({ const: many(10_001) })],
    ["100,001 values", () => ({ enum: Array.from({ length: 100_001 }, (_, index) => index) })],
    [
      "a list that claims four billion items",
      () => ({ enum: Object.assign([], { length: 2 ** 32 - 1 }) }),
    ],
    ["one object in many places", () => nest(30, (inner) => ({ allOf: [inner, inner] }))],
    [
      "patterns that are large only together",
      () => ({
        anyOf: Array.from({ length: 20 }, (_, index) => ({ pattern: `^(a{900}){10}${index}$` })),
      }),
    ],
    ["one pattern too large", () => ({ pattern: "(a{1000}){1000}" })],
  ])("are refused by a limit: %s", (_, schema) => {
    expect(refusalOf(() => compileSchema(schema()))).toBe("limit");
  });

  it.each<[string, () => unknown]>([
    [
      "properties",
      () => {
        const schema = { properties: {} as Record<string, unknown> };
        schema.properties["a"] = schema;
        return schema;
      },
    ],
    [
      "allOf",
      () => {
        const schema = { allOf: [] as unknown[] };
        schema.allOf.push({}, schema);
        return schema;
      },
    ],
    [
      "a constant",
      () => {
        const list: unknown[] = [];
        list.push(list);
        return { const: list };
      },
    ],
  ])("are refused by a limit if an object contains itself: %s", (_, schema) => {
    expect(refusalOf(() => compileSchema(schema()))).toBe("limit");
  });
});

describe("the cost of a check", () => {
  /** A ladder of definitions, each of which asks for the next one twice: 2^rungs ways to the bottom. */
  const ladder = (
    rungs: number,
    step: (next: object) => object,
    bottom: unknown,
  ): Record<string, unknown> => ({
    ...Object.fromEntries(
      Array.from({ length: rungs }, (_, rung) => [
        `r${rung}`,
        step({ $ref: `#/$defs/r${rung + 1}` }),
      ]),
    ),
    [`r${rungs}`]: bottom,
  });

  it.each<[string, (next: object) => object]>([
    ["allOf", (next) => ({ allOf: [next, next] })],
    ["anyOf", (next) => ({ anyOf: [{ allOf: [next, false] }, next] })],
    ["oneOf", (next) => ({ oneOf: [next, { not: next }] })],
    ["if", (next) => ({ if: next, then: next, else: next })],
    ["items", (next) => ({ items: next, contains: next })],
    [
      "properties",
      (next) => ({
        properties: { a: next },
        patternProperties: { a: next },
        dependentSchemas: { a: { properties: { a: next } } },
      }),
    ],
  ])("doesn't double with each step of a ladder of references: %s", (_, step) => {
    const deep = (rungs: number, bottom: unknown): unknown => ({
      $ref: "#/$defs/r0",
      $defs: ladder(rungs, step, bottom),
    });
    let array: unknown = [1];
    let object: unknown = 1;
    for (let level = 0; level < 30; level += 1) {
      array = [array];
      object = { a: object };
    }
    for (const value of [1, "x", array, object]) {
      for (const bottom of [true, false, { type: "string" }]) {
        expect(
          compileSchema(deep(30, bottom), { checkSteps: 50_000 }).check(value).length,
        ).toBeLessThanOrEqual(20);
      }
    }
  });

  const pair = (next: object): object => ({ allOf: [next, next] });

  it("stops at the limit on a ladder that can't be memoised, because each way sees other members", () => {
    const schema = {
      $ref: "#/$defs/r0",
      unevaluatedProperties: false,
      $defs: ladder(30, pair, { properties: { a: true } }),
    };
    const error = errorOf(() => compileSchema(schema).check({ a: 1 }));
    expect(error.kind).toBe("limit");
    expect(error.message).toMatch(/too costly/);
  });

  it.each<[string, unknown, () => unknown]>([
    [
      "thousands of alternatives for thousands of items",
      { items: { oneOf: Array.from({ length: 5_000 }, (_, index) => ({ const: index })) } },
      () => Array.from({ length: 5_000 }, () => -1).fill(4_999, 0, 4_999),
    ],
    ["a large pattern on a long text", { pattern: "(.*a){900}b" }, () => "a".repeat(100_000)],
    [
      "many patterns for many names",
      {
        patternProperties: Object.fromEntries(
          Array.from({ length: 2_000 }, (_, index) => [`(a|b)*c${index}$`, true]),
        ),
      },
      () => Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`abab${index}`, 1])),
    ],
    [
      "a thousand required members of every item",
      { items: { required: Array.from({ length: 5_000 }, (_, index) => `m${index}`) } },
      () => {
        const item = Object.fromEntries(
          Array.from({ length: 5_000 }, (_, index) => [`m${index}`, 1]),
        );
        return Array.from({ length: 10_000 }, () => item);
      },
    ],
    [
      "a long text measured again and again",
      { allOf: Array.from({ length: 9_000 }, () => ({ minLength: 60_000 })) },
      () => "x".repeat(100_000),
    ],
    [
      "large items compared with one another again and again",
      { allOf: Array.from({ length: 9_000 }, () => ({ uniqueItems: true })) },
      () => Array.from({ length: 5_000 }, (_, index) => [index]),
    ],
    [
      "members counted again and again",
      { allOf: Array.from({ length: 9_000 }, () => ({ minProperties: 1 })) },
      () => Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`m${index}`, 1])),
    ],
  ])("stops at the limit: %s", (_, schema, value) => {
    const error = errorOf(() => compileSchema(schema, { checkSteps: 3_000_000 }).check(value()));
    expect(error.kind).toBe("limit");
    expect(error.message).toMatch(/too costly/);
  });

  it("is counted: the same check passes or fails by its allowance alone", () => {
    const schema = { items: { type: "number" } };
    const value = Array.from({ length: 1_000 }, () => 1);
    const budget = { stepsLeft: 1_000_000 };
    expect(compileSchema(schema).check(value, budget)).toEqual([]);
    const checkSteps = 1_000_000 - budget.stepsLeft;
    expect(checkSteps).toBeGreaterThan(1_000);
    expect(compileSchema(schema, { checkSteps }).check(value)).toEqual([]);
    const short = compileSchema(schema, { checkSteps: checkSteps - 1 });
    expect(refusalOf(() => short.check(value))).toBe("limit");
  });

  it("leaves room for a full envelope of honest work", () => {
    const row = {
      type: "object",
      properties: {
        id: { type: "integer" },
        name: { type: "string", minLength: 1 },
        tags: { type: "array", items: { enum: ["a", "b"] }, uniqueItems: true },
      },
      required: ["id", "name"],
      additionalProperties: false,
    };
    const rows = Array.from({ length: 20_000 }, (_, id) => ({
      id,
      name: `row ${id}`,
      tags: ["a", "b"],
    }));
    expect(JSON.stringify(rows).length).toBeGreaterThan(900_000);
    expect(compileSchema({ type: "array", items: row }).check(rows)).toEqual([]);
    const base64 = "QUJD".repeat(250_000);
    const pattern = "^(?:[0-9a-zA-Z+/]{4})*(?:(?:[0-9a-zA-Z+/]{2}==)|(?:[0-9a-zA-Z+/]{3}=))?$";
    expect(compileSchema({ type: "string", pattern }).check(base64)).toEqual([]);
  });

  it("is small for a self-nested union of kinds", () => {
    const kinds = Array.from({ length: 20 }, (_, index) => ({
      type: "object",
      properties: {
        left: { $ref: "#/$defs/node" },
        right: { $ref: "#/$defs/node" },
        kind: { const: `k${index}` },
      },
      required: ["kind"],
    }));
    const schema = compileSchema(
      { $ref: "#/$defs/node", $defs: { node: { oneOf: [...kinds, { type: "number" }] } } },
      { checkSteps: 1_000_000 },
    );
    const tree = (depth: number): unknown =>
      depth === 0 ? 1 : { left: tree(depth - 1), right: tree(depth - 1), kind: "k19" };
    expect(schema.check(tree(9))).toEqual([]);
  });

  it("is bounded for values that contain themselves, and for very deep ones", () => {
    const value: Record<string, unknown> = {};
    value["a"] = value;
    const list: unknown[] = [];
    list.push(list, list);
    let deep: unknown = [];
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const tree = compileSchema({ additionalProperties: { $ref: "#" }, items: { $ref: "#" } });
    for (const each of [value, list, deep]) expect(refusalOf(() => tree.check(each))).toBe("limit");
    for (const schema of [{ const: [] }, { enum: [{}] }, { items: true, uniqueItems: true }]) {
      for (const each of [list, deep]) {
        expect([undefined, "limit"]).toContain(refusalOf(() => compileSchema(schema).check(each)));
      }
    }
    expect(compileSchema({ type: "object" }).check(value)).toEqual([]);
  });

  it("is bounded for a chain of references as long as a schema may be", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 9_000 }, (_, index) => [index, { $ref: `#/$defs/${index + 1}` }]),
    );
    const schema = { $ref: "#/$defs/0", $defs: { ...$defs, 9000: true } };
    expect(refusalOf(() => compileSchema(schema).check(1))).toBe("limit");
  });

  it("is bounded for explanations too: a failure is reported even if its reasons cost too much", () => {
    const schema = {
      $ref: "#/$defs/r0",
      unevaluatedProperties: false,
      $defs: ladder(30, pair, { type: "string" }),
    };
    const issues = compileSchema(schema, {
      checkSteps: 5_000,
    } satisfies Partial<SchemaLimits>).check({ a: 1 });
    expect(issues.length).toBeGreaterThan(0);
  });
});
