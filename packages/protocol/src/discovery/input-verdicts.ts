import type { Capability } from "../manifest/capability.ts";
import { WaybillError } from "../error.ts";
import type { Json } from "../json/json.ts";
import { compileSchema, SCHEMA_LIMITS } from "../schema/schema.ts";
import type { CheckBudget, CompiledSchema, SchemaIssue } from "../schema/schema.ts";

/** The verdict of a schema on an input. */
export interface InputVerdict {
  /** For people; undefined if the input matches. */
  readonly reasons: readonly string[];
  /** The faults of the input; missing if the schema is unusable, which says nothing about the input. */
  readonly issues: readonly Pick<SchemaIssue, "at" | "message">[] | undefined;
}

/** Verdicts on one input, by schema. */
export type InputVerdicts = Map<unknown, InputVerdict>;

/** A candidate whose schema is checked. */
export interface InputQuery {
  readonly capability: Capability;
  readonly inputSchema?: Pick<CompiledSchema, "check"> | undefined;
}

export const ISSUES_SHOWN = 3;
const NOT_CHECKED: readonly string[] = ["not checked: the query's budget is used up"];

/**
 * Checks one input against the schemas of candidates, with one budget for all. Each schema gets a
 * share first, so that a costly one does not keep others from being checked, and what is left goes to
 * those that need more, in order.
 */
export function* inputVerdicts(
  input: Json,
  asked: readonly InputQuery[],
  budget: CheckBudget,
  known: InputVerdicts,
): Generator<void> {
  const waiting = new Map(asked.map((each) => [schemaOf(each), each]));
  for (const schema of waiting.keys()) if (known.has(schema)) waiting.delete(schema);
  // Half of the budget: the other half is for schemas that need more than their share.
  const share = Math.floor(budget.stepsLeft / (2 * waiting.size));
  for (const steps of [share, Infinity]) {
    for (const [schema, each] of waiting) {
      const verdict = tryOut(input, each, budget, steps);
      if (verdict !== undefined) {
        known.set(schema, verdict);
        waiting.delete(schema);
      }
      yield;
    }
  }
}

/** Why the input does not match; without a verdict it was not checked. */
export function verdictOf(known: InputVerdicts, asked: InputQuery): readonly string[] {
  return verdictOn(known, asked)?.reasons ?? NOT_CHECKED;
}

export function verdictOn(known: InputVerdicts, asked: InputQuery): InputVerdict | undefined {
  return known.get(schemaOf(asked));
}

/** The identity of a schema: candidates that share one are checked once. */
function schemaOf({ capability, inputSchema }: InputQuery): unknown {
  return inputSchema ?? JSON.stringify(capability.input_schema);
}

/** Undefined if the steps did not suffice. */
function tryOut(
  input: Json,
  { capability, inputSchema }: InputQuery,
  budget: CheckBudget,
  steps: number,
): InputVerdict | undefined {
  const own = { stepsLeft: Math.min(steps, budget.stepsLeft) };
  if (own.stepsLeft <= 0) return undefined;
  const given = own.stepsLeft;
  try {
    const schema = inputSchema ?? compileSchema(capability.input_schema, {}, { budget: own });
    const issues = schema.check(input, own);
    const more = issues.length - ISSUES_SHOWN;
    const first = issues.slice(0, ISSUES_SHOWN).map(({ at, message }) => ({ at, message }));
    const reasons = [
      ...first.map(
        ({ at, message }) => `the input breaks its schema${at && ` at ${at}`}: ${message}`,
      ),
      ...(more > 0 ? [`the input breaks its schema in ${more} more places`] : []),
    ];
    return { reasons, issues: first };
  } catch (error) {
    const isShort = own.stepsLeft <= 0 && given <= SCHEMA_LIMITS.checkSteps;
    // One bad schema must not hide all other candidates.
    if (isShort) return undefined;
    const { message } = WaybillError.from(error);
    return { reasons: [`its input schema can't be used: ${message}`], issues: undefined };
  } finally {
    budget.stepsLeft -= given - own.stepsLeft;
  }
}
