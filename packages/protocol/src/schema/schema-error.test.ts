import { describe, expect, it } from "vitest";
import { WaybillError } from "../error.ts";
import { LIMITS } from "../limits.ts";
import { compileSchema, normalizeSchema, SCHEMA_LIMITS, schemaAllowance } from "./schema.ts";

function errorOf(action: () => unknown): WaybillError | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (WaybillError.is(error)) return error;
    throw error;
  }
}

function nested(levels: number): unknown {
  return levels === 0 ? {} : { items: nested(levels - 1) };
}

describe("the schema validator in the protocol", () => {
  it("refuses an invalid schema with 400, and names its place", () => {
    expect(errorOf(() => compileSchema({ properties: { a: { type: "text" } } }))).toMatchObject({
      status: 400,
      at: "/properties/a/type",
      message: expect.stringMatching(/^the schema is refused at \/properties\/a\/type: expected/),
    });
  });

  it("refuses an invalid pattern with 400, at the place of the pattern", () => {
    expect(errorOf(() => compileSchema({ items: { pattern: "(a)\\1" } }))).toMatchObject({
      status: 400,
      at: "/items/pattern",
    });
  });

  it("refuses a schema beyond the limits of the protocol with 413", () => {
    expect(errorOf(() => compileSchema(nested(LIMITS.schemaDepth)))).toBeUndefined();
    expect(errorOf(() => compileSchema(nested(LIMITS.schemaDepth + 1)))?.status).toBe(413);
  });

  it("ends a check beyond its limit, or beyond its budget, with 413", () => {
    const value = Array.from({ length: 1_000 }, () => 1);
    const { check } = compileSchema({ items: { type: "integer" } }, { checkSteps: 100 });
    expect(errorOf(() => check(value))).toMatchObject({
      status: 413,
      message: expect.stringMatching(/too costly/),
    });
    const budget = { stepsLeft: 10 };
    expect(errorOf(() => compileSchema({ items: {} }).check(value, budget))).toMatchObject({
      status: 413,
      message: expect.stringMatching(/budget of steps is used up/),
    });
  });

  it("charges schemas in shorthand and in JSON Schema to one allowance, and refuses with 413", () => {
    const allowance = { ...schemaAllowance(), characters: 30, schemas: 1 };
    expect(errorOf(() => normalizeSchema({ query: "string" }, allowance))).toBeUndefined();
    expect(errorOf(() => normalizeSchema({ query: "string" }, allowance))?.status).toBe(413);
    expect(errorOf(() => compileSchema({}, {}, { allowance }))).toBeUndefined();
    expect(errorOf(() => compileSchema({}, {}, { allowance }))?.status).toBe(413);
  });

  it("has the limits of the protocol", () => {
    const { schemaDepth, schemaNodes } = LIMITS;
    expect(SCHEMA_LIMITS).toMatchObject({ schemaDepth, schemaNodes });
  });
});
