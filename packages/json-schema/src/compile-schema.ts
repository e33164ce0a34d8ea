import { JsonSchemaError } from "./error.ts";
import { schemaAllowance } from "./allowance.ts";
import type { SchemaAllowance } from "./allowance.ts";
import { compileNodes } from "./compiler.ts";
import { copySchema } from "./copy-schema.ts";
import { COMPILING } from "./costs.ts";
import { evaluate, CheckRun } from "./evaluate.ts";
import type { SchemaIssue, SchemaNode } from "./evaluate.ts";
import { readSchema } from "./keyword-values.ts";
import { SCHEMA_LIMITS } from "./limits.ts";
import type { SchemaLimits } from "./limits.ts";

/** A JSON Schema, draft 2020-12. */
export type JsonSchema = boolean | { [keyword: string]: unknown };

/** What several checks may cost together. Each check takes its steps from what is left. */
export interface CheckBudget {
  stepsLeft: number;
}

/** A schema that is ready to check values. */
export interface CompiledSchema {
  /**
   * What is wrong with a value; nothing when it fits. Throws a `JsonSchemaError` of kind "limit" when
   * judging the value costs more than one check may, or more than the budget has left.
   */
  check(value: unknown, budget?: CheckBudget): SchemaIssue[];
  /** The cost of compiling, in steps. The compiled schema holds some bytes for each of them. */
  readonly weight: number;
}

/** The limits of one schema, and what it shares with other schemas. */
export interface CompileOptions extends Partial<SchemaLimits> {
  /** Pays for the work. It may be overdrawn, because the limits bound each single schema. */
  readonly budget?: CheckBudget | undefined;
  /** The allowance that this schema shares with others. */
  readonly allowance?: SchemaAllowance | undefined;
}

/**
 * Makes an untrusted JSON Schema safe to use. A schema that would fetch, loop or grow without bound is
 * refused here with a `JsonSchemaError`, and each check of a value works within a counted number of
 * steps. `format` is an annotation and asserts nothing, as draft 2020-12 has it by default.
 *
 * @example
 * ```ts
 * const { check } = compileSchema({ type: "object", required: ["topic"] });
 * for (const { at, message } of check({ subject: "tea" })) console.log(at, message);
 * ```
 */
export function compileSchema(schema: unknown, options: CompileOptions = {}): CompiledSchema {
  const { schemaDepth, schemaNodes, checkSteps, checkIssues } = { ...SCHEMA_LIMITS, ...options };
  const { budget, allowance = schemaAllowance() } = options;
  const copied = copySchema(schema, { schemaDepth, schemaNodes });
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
  const run = new CheckRun(Math.min(stepsLeft, checkSteps), checkIssues, () =>
    isBudgetShort ? budgetExhausted() : tooCostly(checkSteps),
  );
  try {
    // The verdict alone stops at the first fault. Issues are collected in a second pass, if it failed.
    return evaluate(root, value, "", run, undefined) ? [] : explain(root, value, run);
  } finally {
    if (budget !== undefined) budget.stepsLeft -= run.spent;
  }
}

function explain(root: SchemaNode, value: unknown, run: CheckRun): SchemaIssue[] {
  const issues: SchemaIssue[] = [];
  run.explainInto(issues);
  try {
    evaluate(root, value, "", run, undefined);
  } catch (error) {
    if (!JsonSchemaError.is(error, "limit")) throw error;
  }
  if (issues.length > 0) return issues;
  return [
    { at: "", keyword: "", message: "the value doesn't fit; the reason is too costly to find" },
  ];
}

function tooCostly(steps: number): JsonSchemaError {
  return new JsonSchemaError(
    "limit",
    `the schema is too costly: judging this value takes more than ${steps} steps; use fewer alternatives, simpler patterns or a smaller value`,
  );
}

function budgetExhausted(): JsonSchemaError {
  return new JsonSchemaError("limit", "the budget of steps is used up before this value is judged");
}
