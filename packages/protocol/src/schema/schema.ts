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
  /** The budget for the checks of one query. */
  querySteps: number;
}

/** The default limits of `compileSchema`. */
export const SCHEMA_LIMITS: Readonly<SchemaLimits> = {
  ...validator.SCHEMA_LIMITS,
  schemaDepth: LIMITS.schemaDepth,
  schemaNodes: LIMITS.schemaNodes,
  querySteps: 20_000_000,
};

/** The allowance that several schemas are charged to when they are compiled. */
export interface CompileOptions {
  /** Pays for work. It may be overdrawn, because the limits bound each single schema. */
  readonly budget?: CheckBudget | undefined;
  readonly allowance?: SchemaAllowance | undefined;
}

/**
 * Compiles a JSON Schema from another party so that it is safe to use: the validator of
 * `@waybill/json-schema` with the limits of the protocol. Its refusals become a `WaybillError`: 400
 * for an invalid schema, and 413 for a schema or a check beyond a limit.
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
