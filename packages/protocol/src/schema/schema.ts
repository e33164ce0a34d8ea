import { WaybillError } from "../error.ts";
import { LIMITS } from "../limits.ts";
import { schemaAllowance } from "./schema-allowance.ts";
import type { SchemaAllowance } from "./schema-allowance.ts";
import { compileNodes } from "./schema-compile.ts";
import { COMPILING } from "./schema-costs.ts";
import { copySchema, readSchema } from "./schema-read.ts";
import { evaluate, Run } from "./schema-run.ts";
import type { SchemaIssue, SchemaNode } from "./schema-run.ts";

export { schemaAllowance } from "./schema-allowance.ts";
export type { SchemaAllowance } from "./schema-allowance.ts";
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
  /** What one check may cost, verdict and reasons together, in steps of about 8 ns. */
  checkSteps: number;
  /** What the checks of one query may cost together. */
  querySteps: number;
  /** Issues after which a check stops. */
  checkIssues: number;
}

/** The limits of `compileSchema` where none are given. */
export const SCHEMA_LIMITS: Readonly<SchemaLimits> = {
  schemaDepth: LIMITS.schemaDepth,
  schemaNodes: LIMITS.schemaNodes,
  checkSteps: 3_000_000,
  querySteps: 20_000_000,
  checkIssues: 20,
};

/** What several checks may cost together: each takes its steps from what is left. */
export interface CheckBudget {
  stepsLeft: number;
}

/** A schema that is ready to check values. */
export interface CompiledSchema {
  /**
   * What is wrong with a value; nothing when it fits. Throws 413 when judging it costs too much, by
   * the limit of one check or by what the budget has left.
   */
  check(value: unknown, budget?: CheckBudget): SchemaIssue[];
  /** What it took to compile, in steps. It holds some bytes for each of them. */
  readonly weight: number;
}

/** What compiling a schema is charged to, together with other schemas. */
export interface CompileOptions {
  /** Pays for the work; it may be overdrawn, since one schema is bounded by its limits. */
  readonly budget?: CheckBudget | undefined;
  readonly allowance?: SchemaAllowance | undefined;
}

/**
 * Makes a JSON Schema from a stranger safe to use: what would fetch, loop, or grow without bound
 * is refused here with 400 or 413, and each check of a value works within a counted allowance.
 * `format` is an annotation and asserts nothing, as draft 2020-12 has it by default.
 *
 * @example
 * ```ts
 * const issues = compileSchema({ type: "object", required: ["topic"] }).check({ topic: 1 });
 * ```
 */
export function compileSchema(
  schema: unknown,
  limits: Partial<SchemaLimits> = {},
  { budget, allowance = schemaAllowance() }: CompileOptions = {},
): CompiledSchema {
  const { schemaDepth, schemaNodes, checkSteps, checkIssues } = { ...SCHEMA_LIMITS, ...limits };
  const copied = copySchema(schema, {
    // A level of schemas takes two of JSON (properties, then the name); annotations have levels too.
    depth: 4 * schemaDepth + 8,
    members: schemaNodes,
    values: 10 * schemaNodes,
  });
  const compiled = compileNodes(readSchema(copied.schema, ""), {
    depth: schemaDepth,
    nodes: schemaNodes,
    allowance,
  });
  const weight = compiled.weight + COMPILING.value * copied.values;
  if (budget !== undefined) budget.stepsLeft -= weight;
  return {
    weight,
    check: (value, given) =>
      check(compiled.root, value, { checkSteps, checkIssues, budget: given }),
  };
}

interface CheckLimits extends Pick<SchemaLimits, "checkSteps" | "checkIssues"> {
  readonly budget: CheckBudget | undefined;
}

function check(
  root: SchemaNode,
  value: unknown,
  { checkSteps, checkIssues, budget }: CheckLimits,
): SchemaIssue[] {
  const stepsLeft = Math.max(0, budget?.stepsLeft ?? Infinity);
  const isBudgetShort = stepsLeft < checkSteps;
  const run = new Run(Math.min(stepsLeft, checkSteps), checkIssues, () =>
    isBudgetShort ? usedUp() : tooCostly(checkSteps),
  );
  try {
    // The verdict first, where the first fault ends the search; reasons only for what has failed.
    return evaluate(root, value, "", run, undefined) ? [] : explained(root, value, run);
  } finally {
    if (budget !== undefined) budget.stepsLeft -= run.spent;
  }
}

function explained(root: SchemaNode, value: unknown, run: Run): SchemaIssue[] {
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

function tooCostly(steps: number): WaybillError {
  return new WaybillError(
    413,
    `the schema is too costly: judging this value takes more than ${steps} steps; use fewer alternatives, simpler patterns or a smaller value`,
  );
}

function usedUp(): WaybillError {
  return new WaybillError(413, "the budget of steps is used up before this value is judged");
}
