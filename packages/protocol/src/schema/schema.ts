import { WaybillError } from "../error.ts";
import { LIMITS } from "../limits.ts";
import { compileNodes } from "./schema-compile.ts";
import { copySchema, readSchema } from "./schema-read.ts";
import { evaluate, Run } from "./schema-run.ts";
import type { SchemaIssue, SchemaNode } from "./schema-run.ts";

export type { SchemaIssue } from "./schema-run.ts";
export { normalizeSchema } from "./shorthand.ts";
export { schemaFrom } from "./standard-schema.ts";
export type { SchemaSide } from "./standard-schema.ts";

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = boolean | { [keyword: string]: unknown };

export interface SchemaLimits {
  /** How deep schemas may be nested in one another. */
  schemaDepth: number;
  /** Schemas in one document, and members of any one object in it. */
  schemaNodes: number;
  /** What one check may cost. A schema asked about a value costs 10 steps, an instruction of a pattern 1. */
  checkSteps: number;
  /** Issues after which a check stops. */
  checkIssues: number;
}

export const SCHEMA_LIMITS: Readonly<SchemaLimits> = {
  schemaDepth: LIMITS.schemaDepth,
  schemaNodes: LIMITS.schemaNodes,
  checkSteps: 20_000_000,
  checkIssues: 20,
};

export interface CompiledSchema {
  /** What is wrong with a value; nothing when it fits. Throws 413 when judging it costs too much. */
  check(value: unknown): SchemaIssue[];
}

/**
 * Makes a JSON Schema from a stranger safe to use: what would fetch, loop, or grow without bound is
 * refused here with 400 or 413, and each check of a value works within a counted allowance.
 * `format` is an annotation and asserts nothing, as draft 2020-12 has it by default.
 */
export function compileSchema(schema: unknown, limits: Partial<SchemaLimits> = {}): CompiledSchema {
  const { schemaDepth, schemaNodes, checkSteps, checkIssues } = { ...SCHEMA_LIMITS, ...limits };
  const copy = copySchema(schema, {
    // A level of schemas takes two of JSON (properties, then the name); annotations have levels too.
    depth: 4 * schemaDepth + 8,
    members: schemaNodes,
    values: 10 * schemaNodes,
  });
  const root = compileNodes(readSchema(copy, ""), { depth: schemaDepth, nodes: schemaNodes });
  return { check: (value) => check(root, value, checkSteps, checkIssues) };
}

function check(root: SchemaNode, value: unknown, steps: number, maxIssues: number): SchemaIssue[] {
  const run = new Run(steps, maxIssues);
  // The verdict first, where the first fault ends the search; reasons only for what has failed.
  if (evaluate(root, value, "", run, undefined)) return [];
  const issues: SchemaIssue[] = [];
  run.explainInto(issues);
  try {
    evaluate(root, value, "", run, undefined);
  } catch (error) {
    if (!WaybillError.is(error, 413)) throw error;
  }
  if (issues.length > 0) return issues;
  return [
    { at: "", keyword: "", message: "the value doesn't fit; the reason is too costly to find" },
  ];
}
