import { describe, expect, it } from "vitest";
import { JsonSchemaError } from "./error.ts";
import { COSTLY_CASES } from "./costly-cases-fixture.ts";
import { compileSchema } from "./compile-schema.ts";
import { SCHEMA_LIMITS } from "./limits.ts";

const ENOUGH = 1e12;

function stepsOf(schema: unknown, value: unknown): number {
  const budget = { stepsLeft: ENOUGH };
  compileSchema(schema, { checkSteps: ENOUGH }).check(value, budget);
  return ENOUGH - budget.stepsLeft;
}

describe("the steps of a check", () => {
  it.each(COSTLY_CASES.map((each) => [each.name, each] as const))(
    "grow with the work: %s",
    (_, { n, growth = 1.8, schema, value }) => {
      const size = Math.ceil(n / 10 / 100) * 100;
      const [half, whole] = [size / 2, size].map((each) => stepsOf(schema(each), value(each)));
      expect(whole! / half!).toBeGreaterThan(growth);
    },
  );

  it("are not fewer if numbers collide in a hash table", () => {
    const cases = new Map(COSTLY_CASES.map((each) => [each.name, each]));
    const { schema, value } = cases.get("uniqueItems of numbers that collide")!;
    expect(stepsOf(schema(1_000), value(1_000))).toBe(
      stepsOf(
        { uniqueItems: true },
        Array.from({ length: 1_000 }, (_, index) => index),
      ),
    );
  });
});

describe("a budget", () => {
  const schema = compileSchema({ items: { type: "integer" } });
  const list = (length: number): number[] => Array.from({ length }, () => 1);

  it("pays for several checks, each of which takes its steps from the rest", () => {
    const budget = { stepsLeft: 10_000 };
    expect(schema.check(list(100), budget)).toEqual([]);
    const first = 10_000 - budget.stepsLeft;
    expect(first).toBeGreaterThan(100);
    expect(schema.check(list(100), budget)).toEqual([]);
    expect(budget.stepsLeft).toBe(10_000 - 2 * first);
  });

  it("ends a check when it is used up, and is then used up exactly", () => {
    const budget = { stepsLeft: 1_000 };
    let error: unknown;
    try {
      schema.check(list(10_000), budget);
    } catch (thrown) {
      error = thrown;
    }
    expect(JsonSchemaError.is(error, "limit")).toBe(true);
    expect((error as Error).message).toMatch(/budget of steps is used up/);
    expect(budget.stepsLeft).toBe(0);
    expect(() => schema.check([], budget)).toThrow(/used up/);
  });

  it("is charged no more than the limit of one check for a schema that is too costly", () => {
    const budget = { stepsLeft: 10 * SCHEMA_LIMITS.checkSteps };
    const costly = compileSchema({ pattern: "^(a|b)*a(a|b){900}$" });
    const text = Array.from({ length: 100_000 }, (_, at) => "ab"[((at * at * 7) % 11) & 1]!).join(
      "",
    );
    expect(() => costly.check(text, budget)).toThrow(/too costly/);
    expect(budget.stepsLeft).toBe(9 * SCHEMA_LIMITS.checkSteps);
  });

  it("pays for the reasons too", () => {
    const budget = { stepsLeft: ENOUGH };
    const fails = { stepsLeft: ENOUGH };
    schema.check(list(100), budget);
    schema.check([...list(99), "x"], fails);
    expect(fails.stepsLeft).toBeLessThan(budget.stepsLeft);
  });
});

describe("the reasons of a large value", () => {
  it("are searched from its first fault on, so that they cost little more than the verdict", () => {
    const schema = { items: { properties: { a: { items: { type: "integer" } } } } };
    const item = { a: Array.from({ length: 100 }, () => 1) };
    const value: unknown[] = Array.from({ length: 1_000 }, () => item);
    const fits = stepsOf(schema, value);
    value.push({ a: [1, "x"] });
    expect(stepsOf(schema, value)).toBeLessThan(1.1 * fits);
    expect(compileSchema(schema).check(value)).toMatchObject([
      { at: "/1000/a/1", keyword: "type" },
    ]);
  });

  it("omit names that are too long to show", () => {
    const name = "n".repeat(100_000);
    const [issue] = compileSchema({ additionalProperties: { required: [name] } }).check({
      [name]: {},
    });
    expect(issue!.at.length).toBeLessThan(200);
    expect(issue!.message.length).toBeLessThan(200);
  });

  it("point into a value of any depth, with a pointer of bounded length", () => {
    const name = "n".repeat(90);
    let value: unknown = "x";
    for (let level = 0; level < 40; level += 1) value = { [name]: value };
    const tree = { type: "object", additionalProperties: { $ref: "#" } };
    const [issue] = compileSchema(tree).check(value);
    expect(issue!.at.length).toBeLessThan(1_200);
    expect(issue!.at.endsWith("/…")).toBe(true);
  });
});
