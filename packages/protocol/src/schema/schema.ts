import * as validator from "@waybill/json-schema";
import type { CheckBudget, CompiledSchema, SchemaAllowance } from "@waybill/json-schema";
import { LIMITS } from "../limits.ts";
import { asWaybillError } from "./schema-error.ts";

export { schemaAllowance } from "@waybill/json-schema";
export type {
  CheckBudget,
  CompiledSchema,
  JsonSchema,
  SchemaAllowance,
  SchemaIssue,
} from "@waybill/json-schema";
export { normalizeSchema } from "./shorthand.ts";
export { schemaFrom } from "./standard-schema.ts";
export type { SchemaSide } from "./standard-schema.ts";

/** The limits of schemas and of their checks. */
export interface SchemaLimits extends validator.SchemaLimits {
  /** What the checks of one query may cost together. */
  querySteps: number;
}

/** The limits of `compileSchema` where none are given. */
export const SCHEMA_LIMITS: Readonly<SchemaLimits> = {
  ...validator.SCHEMA_LIMITS,
  schemaDepth: LIMITS.schemaDepth,
  schemaNodes: LIMITS.schemaNodes,
  querySteps: 20_000_000,
};

/** What compiling a schema is charged to, together with other schemas. */
export interface CompileOptions {
  /** Pays for the work. It may be overdrawn, because the limits bound each single schema. */
  readonly budget?: CheckBudget | undefined;
  readonly allowance?: SchemaAllowance | undefined;
}

/**
 * Makes a JSON Schema from another party safe to use: the validator of `@waybill/json-schema` with the
 * limits of the protocol. What it refuses is a `WaybillError`: 400 for an invalid schema, and 413 for
 * a schema or a check beyond a limit.
 *
 * @example
 * ```ts
 * const issues = compileSchema({ type: "object", required: ["topic"] }).check({ topic: 1 });
 * ```
 */
export function compileSchema(
  schema: unknown,
  limits: Partial<SchemaLimits> = {},
  options: CompileOptions = {},
): CompiledSchema {
  const { check, weight } = asWaybillError(() =>
    validator.compileSchema(schema, { ...SCHEMA_LIMITS, ...limits, ...options }),
  );
  return { weight, check: (value, budget) => asWaybillError(() => check(value, budget)) };
}
