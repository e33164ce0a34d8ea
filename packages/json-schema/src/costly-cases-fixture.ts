// The keyword `then` of JSON Schema is no promise.
/* oxlint-disable unicorn/no-thenable */

/** The most expensive use of one keyword. The work grows in proportion to `n`. */
export interface CostlyCase {
  readonly name: string;
  /** The size at which it costs some hundred thousand steps. */
  readonly n: number;
  /** The least factor by which the steps grow when `n` doubles. Default: 1.8. */
  readonly growth?: number;
  readonly schema: (n: number) => unknown;
  readonly value: (n: number) => unknown;
}

const list = <T>(n: number, make: (index: number) => T): T[] =>
  Array.from({ length: n }, (_, index) => make(index));
const wide = (n: number, make: (index: number) => unknown = () => 1): Record<string, unknown> =>
  Object.fromEntries(list(n, (index) => [`m${index}`, make(index)]));
const numbers = (n: number): number[] => list(n, (index) => (index * 7_919) % 1_000_003);

/** Numbers that collide in a hash table without a seed. */
function colliding(n: number): number[] {
  const found: number[] = [];
  for (let number = 0; found.length < n; number += 1) {
    if ((hash(number) & 0x3f) === 0) found.push(number);
  }
  return found;
}

function hash(number: number): number {
  let mixed = ~number + (number << 15);
  mixed ^= mixed >>> 12;
  mixed += mixed << 2;
  mixed ^= mixed >>> 4;
  mixed = Math.imul(mixed, 2057);
  return mixed ^ (mixed >>> 16);
}

const always = (schema: unknown) => () => schema;
const kb = (n: number, letter = "x"): string => letter.repeat(n * 1_000);
/** A pseudo-random text, on which a search keeps reaching new states. */
function noise(length: number, letters: string): string {
  let state = 12_345;
  return list(length, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return letters[(state >>> 16) % letters.length]!;
  }).join("");
}

export const COSTLY_CASES: readonly CostlyCase[] = [
  {
    name: "type",
    n: 150_000,
    schema: always({ items: { type: ["string", "integer"] } }),
    value: (n) => list(n, () => 1),
  },
  {
    name: "a schema that asks nothing",
    n: 150_000,
    schema: always({ items: { title: "x" } }),
    value: (n) => list(n, () => 1),
  },
  {
    name: "const of a number",
    n: 100_000,
    schema: always({ items: { const: 1 } }),
    value: (n) => list(n, () => 1),
  },
  {
    name: "const of a long text",
    n: 100,
    schema: (n) => ({ items: { const: kb(8) }, title: n }),
    value: (n) => list(n, () => JSON.parse(JSON.stringify(kb(8)))),
  },
  {
    name: "const of a list",
    n: 1_000,
    schema: always({ items: { const: numbers(50) } }),
    value: (n) => list(n, () => numbers(50)),
  },
  {
    name: "const of a list in lists",
    n: 300,
    schema: always({ items: { const: nest(kb(1), 50) } }),
    value: (n) => list(n, () => nest(kb(1), 50)),
  },
  {
    name: "const of a wide object",
    n: 20,
    schema: always({ items: { const: wide(1_000) } }),
    value: (n) => list(n, () => wide(1_000)),
  },
  {
    name: "const of an object whose long names begin alike",
    n: 5,
    schema: always({ items: { const: { [`${kb(1)}0`]: 1 } }, uniqueItems: true }),
    value: (n) =>
      list(n, (item) =>
        Object.fromEntries(list(100, (index) => [`${kb(5)}${(index * 37) % 100}`, item])),
      ),
  },
  {
    name: "const of a composed value, asked many times of another one",
    n: 9_000,
    schema: (n) => ({ anyOf: list(n, (index) => ({ const: [index] })) }),
    value: () => numbers(50_000),
  },
  {
    name: "enum of numbers",
    n: 50_000,
    schema: always({ items: { enum: numbers(10_000) } }),
    value: (n) => list(n, (index) => ((index % 10_000) * 7_919) % 1_000_003),
  },
  {
    name: "enum of numbers that collide",
    n: 50_000,
    schema: always({ items: { enum: colliding(10_000) } }),
    value: (n) => {
      const allowed = colliding(10_000);
      return list(n, (index) => allowed[index % 10_000]);
    },
  },
  {
    name: "enum of texts",
    n: 50_000,
    schema: always({ items: { enum: list(10_000, (index) => `text ${index}`) } }),
    value: (n) => list(n, (index) => `text ${index % 10_000}`),
  },
  {
    name: "enum of composed values",
    n: 10_000,
    schema: always({ items: { enum: list(1_000, (index) => ({ a: [index] })) } }),
    value: (n) => list(n, (index) => ({ a: [index % 1_000] })),
  },
  {
    name: "minimum and maximum",
    n: 80_000,
    schema: always({
      items: { minimum: -1, maximum: 1e9, exclusiveMinimum: -2, exclusiveMaximum: 1e9 },
    }),
    value: numbers,
  },
  {
    name: "multipleOf of whole numbers",
    n: 100_000,
    schema: always({ items: { multipleOf: 1 } }),
    value: numbers,
  },
  {
    name: "multipleOf far apart",
    n: 3_000,
    schema: always({ items: { multipleOf: 5e-324 } }),
    value: (n) => list(n, (index) => 1.797e308 - index * 1e292),
  },
  {
    name: "multipleOf of fractions",
    n: 3_000,
    schema: always({ items: { multipleOf: 0.01 } }),
    value: (n) => list(n, (index) => index / 100),
  },
  {
    name: "minLength",
    n: 100,
    schema: (n) => ({ allOf: list(n, () => ({ minLength: 50_000 })) }),
    value: () => kb(100),
  },
  {
    name: "minLength of a text outside the plane",
    n: 100,
    schema: (n) => ({ allOf: list(n, () => ({ minLength: 40_000 })) }),
    value: () => kb(50, "😀"),
  },
  {
    name: "minItems",
    n: 9_000,
    schema: (n) => ({ items: { allOf: list(n / 10, () => ({ minItems: 0, maxItems: 9 })) } }),
    value: () => list(100, () => []),
  },
  {
    name: "minProperties",
    n: 100,
    schema: (n) => ({ allOf: list(n, () => ({ minProperties: 1 })) }),
    value: () => wide(2_000),
  },
  {
    name: "minProperties of a very wide object",
    n: 10,
    schema: (n) => ({ allOf: list(n, () => ({ minProperties: 1 })) }),
    value: () => wide(50_000),
  },
  {
    name: "required",
    n: 100,
    schema: always({ items: { required: list(1_000, (index) => `m${index}`) } }),
    value: (n) => list(n, () => wide(1_000)),
  },
  {
    name: "dependentRequired",
    n: 100,
    schema: always({
      items: { dependentRequired: wide(1_000, (index) => [`m${index}`]) },
    }),
    value: (n) => list(n, () => wide(1_000)),
  },
  {
    name: "pattern on a long text",
    n: 1_000,
    schema: always({ pattern: "^[a-z]+$" }),
    value: (n) => kb(n),
  },
  {
    name: "pattern on a long text of other scripts",
    n: 300,
    growth: 1.3,
    schema: always({ pattern: "^[\\p{L}\\p{N}]+$" }),
    value: (n) =>
      list(n * 1_000, (index) => String.fromCodePoint(0x4e00 + (index % 3_000))).join(""),
  },
  {
    name: "pattern of many states",
    n: 10,
    schema: always({ pattern: "^(a|b)*a(a|b){200}$" }),
    value: (n) => noise(n * 1_000, "ab"),
  },
  {
    name: "pattern of many states on texts just long enough to remember them",
    n: 30,
    growth: 1.2,
    schema: always({ items: { pattern: "^((a|b)*a(a|b){30}|[ab]*)$" } }),
    value: (n) => list(n, (index) => noise(200 + index, "ab")),
  },
  {
    name: "pattern of many threads",
    n: 1_000,
    schema: always({ pattern: "(.*a){900}b" }),
    value: (n) => "a".repeat(n),
  },
  {
    name: "pattern of many boundaries",
    n: 10_000,
    growth: 1,
    schema: always({ pattern: `^(?:${"(?:\\b|\\B)".repeat(200)}.)*$` }),
    value: (n) => noise(n, "aé 你"),
  },
  {
    name: "pattern of large sets",
    n: 20,
    growth: 1.2,
    schema: always({
      pattern: `^([${list(1_000, (index) => String.fromCodePoint(0x1000 + 2 * index)).join("")}]|[^q])*$`,
    }),
    value: (n) =>
      list(n * 1_000, (index) => String.fromCodePoint(0x1001 + ((index * 911) % 4_000))).join(""),
  },
  {
    name: "pattern of Unicode properties",
    n: 5,
    growth: 1.1,
    schema: always({ pattern: "[\\p{Lu}\\p{Nd}\\p{Script=Greek}\\p{Script=Thai}\\p{Emoji}]{10}" }),
    value: (n) =>
      list(n * 1_000, (index) => String.fromCodePoint(0x3400 + ((index * 911) % 20_000))).join(""),
  },
  {
    name: "patterns on short texts",
    n: 20_000,
    schema: always({ items: { pattern: "^a" } }),
    value: (n) => list(n, () => "a"),
  },
  {
    name: "uniqueItems of numbers",
    n: 50_000,
    schema: always({ uniqueItems: true }),
    value: numbers,
  },
  {
    name: "uniqueItems of numbers that collide",
    n: 50_000,
    schema: always({ uniqueItems: true }),
    value: colliding,
  },
  {
    name: "uniqueItems of texts",
    n: 50_000,
    schema: always({ uniqueItems: true }),
    value: (n) => list(n, (index) => `text ${index}`),
  },
  {
    name: "uniqueItems of texts of one length",
    n: 20,
    schema: always({ uniqueItems: true }),
    value: (n) => list(n, (index) => `${kb(17)}${1_000 + index}`),
  },
  {
    name: "uniqueItems of lists",
    n: 20_000,
    schema: always({ uniqueItems: true }),
    value: (n) => list(n, (index) => [index]),
  },
  {
    name: "uniqueItems of objects",
    n: 10_000,
    schema: always({ uniqueItems: true }),
    value: (n) => list(n, (index) => ({ b: index, a: `text ${index}` })),
  },
  {
    name: "propertyNames",
    n: 30_000,
    schema: always({ propertyNames: { minLength: 1 } }),
    value: (n) => wide(n),
  },
  {
    name: "properties",
    n: 100,
    schema: always({ items: { properties: wide(1_000, () => true) } }),
    value: (n) => list(n, () => wide(1_000)),
  },
  {
    name: "patternProperties",
    n: 200,
    schema: (n) => ({
      patternProperties: Object.fromEntries(list(n, (index) => [`^m.*${index}$`, true])),
    }),
    value: () => wide(300),
  },
  {
    name: "patternProperties that all match",
    n: 200,
    schema: (n) => ({
      patternProperties: Object.fromEntries(list(n, (index) => [`^m{1,${index + 1}}`, true])),
    }),
    value: () => wide(300),
  },
  {
    name: "additionalProperties over a wide object",
    n: 30_000,
    schema: always({ additionalProperties: { type: "integer" } }),
    value: (n) => wide(n),
  },
  {
    name: "additionalProperties that are asked again and again",
    n: 50,
    schema: (n) => ({ allOf: list(n, () => ({ additionalProperties: true })) }),
    value: () => wide(1_000),
  },
  {
    name: "items",
    n: 100_000,
    schema: always({ items: true }),
    value: (n) => list(n, () => 1),
  },
  {
    name: "prefixItems",
    n: 100,
    schema: always({ items: { prefixItems: list(1_000, () => true) } }),
    value: (n) => list(n, () => list(1_000, () => 1)),
  },
  {
    name: "contains that finds nothing",
    n: 50_000,
    schema: always({ allOf: [{ contains: { type: "string" }, minContains: 0 }] }),
    value: (n) => list(n, () => 1),
  },
  {
    name: "contains, many of them",
    n: 100,
    schema: (n) => ({ allOf: list(n, () => ({ contains: { const: -1 }, minContains: 0 })) }),
    value: () => list(500, () => 1),
  },
  {
    name: "contains that is noted",
    n: 20_000,
    schema: always({ contains: true, unevaluatedItems: false }),
    value: (n) => list(n, () => 1),
  },
  {
    name: "a reference",
    n: 20_000,
    schema: always({ items: { $ref: "#/$defs/a" }, $defs: { a: { type: "object" } } }),
    value: (n) => list(n, () => ({})),
  },
  {
    name: "a reference for texts",
    n: 20_000,
    schema: always({
      items: { $ref: "#/$defs/a" },
      $defs: { a: { allOf: [{ type: "string" }] } },
    }),
    value: (n) => list(n, (index) => `text ${index}`),
  },
  {
    name: "a reference for numbers that collide",
    n: 20_000,
    schema: always({
      items: { $ref: "#/$defs/a" },
      $defs: { a: { allOf: [{ type: "integer" }] } },
    }),
    value: colliding,
  },
  {
    name: "a chain of references",
    n: 20_000,
    schema: always({
      items: { $ref: "#/$defs/0" },
      $defs: {
        ...Object.fromEntries(list(20, (index) => [index, { $ref: `#/$defs/${index + 1}` }])),
        20: true,
      },
    }),
    value: (n) => list(n / 20, () => ({})),
  },
  {
    name: "allOf",
    n: 9_000,
    schema: (n) => ({ items: { allOf: list(n / 10, () => true) } }),
    value: () => list(100, () => 1),
  },
  {
    name: "anyOf",
    n: 9_000,
    schema: (n) => ({ items: { anyOf: [...list(n / 10, () => ({ type: "string" })), true] } }),
    value: () => list(100, () => 1),
  },
  {
    name: "oneOf",
    n: 9_000,
    schema: (n) => ({ items: { oneOf: [...list(n / 10, () => ({ type: "string" })), true] } }),
    value: () => list(100, () => 1),
  },
  {
    name: "not",
    n: 50_000,
    schema: always({ items: { not: { type: "string" } } }),
    value: (n) => list(n, () => 1),
  },
  {
    name: "if, then and else",
    n: 30_000,
    schema: always({ items: { if: { type: "string" }, then: false, else: { type: "integer" } } }),
    value: (n) => list(n, () => 1),
  },
  {
    name: "dependentSchemas",
    n: 100,
    schema: always({ items: { dependentSchemas: wide(1_000, () => true) } }),
    value: (n) => list(n, () => wide(1_000)),
  },
  {
    name: "dependentSchemas of what isn't there",
    n: 100,
    schema: always({ items: { dependentSchemas: wide(1_000, () => true) } }),
    value: (n) => list(n, () => ({ other: 1 })),
  },
  {
    name: "dependencies",
    n: 100,
    schema: always({ items: { dependencies: wide(1_000, () => ["m1"]) } }),
    value: (n) => list(n, () => wide(1_000)),
  },
  {
    name: "unevaluatedProperties",
    n: 10_000,
    schema: always({ additionalProperties: true, unevaluatedProperties: false }),
    value: (n) => wide(n),
  },
  {
    name: "unevaluatedProperties seen by many",
    n: 100,
    schema: (n) => ({
      allOf: list(n, () => ({ anyOf: [{ additionalProperties: true }] })),
      unevaluatedProperties: false,
    }),
    value: () => wide(300),
  },
  {
    name: "unevaluatedProperties that nothing has seen",
    n: 20_000,
    schema: always({ unevaluatedProperties: true }),
    value: (n) => wide(n),
  },
  {
    name: "unevaluatedItems",
    n: 50_000,
    schema: always({ prefixItems: [true], unevaluatedItems: true }),
    value: (n) => list(n, () => 1),
  },
  {
    name: "a wide list of wide objects",
    n: 3_000,
    schema: always({
      items: {
        properties: { m1: { type: "integer" } },
        required: ["m2"],
        additionalProperties: true,
      },
    }),
    value: (n) => list(n, () => wide(20)),
  },
  {
    name: "reasons for many items",
    n: 30_000,
    schema: (n) => ({ items: { type: "integer" }, maxItems: n - 1 }),
    value: (n) => list(n, () => 1),
  },
  {
    name: "reasons with long names around them",
    n: 300,
    schema: always({
      additionalProperties: { items: { additionalProperties: { not: { minLength: 1 } } } },
    }),
    value: (n) => ({
      [kb(10)]: [...list(n, () => ({ [kb(1)]: "", [kb(2)]: "" })), { x: "y" }],
    }),
  },
  {
    name: "reasons that count characters",
    n: 4_000,
    schema: always({ items: { minLength: 1e9 } }),
    value: (n) => list(10, () => kb(n / 40)),
  },
  {
    name: "reasons of alternatives",
    n: 900,
    schema: (n) => ({
      items: {
        anyOf: list(n, (index) => ({
          type: "object",
          properties: { kind: { const: `k${index}` }, x: { enum: numbers(5) } },
        })),
      },
    }),
    value: () => list(30, () => ({ kind: "none", x: 1 })),
  },
];

function nest(inner: unknown, depth: number): unknown {
  let value = inner;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
