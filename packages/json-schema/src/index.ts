export { compileSchema } from "./compile-schema.ts";
export type { CheckBudget, CompiledSchema, CompileOptions, JsonSchema } from "./compile-schema.ts";
export type { SchemaIssue } from "./evaluate.ts";
export { SCHEMA_LIMITS } from "./limits.ts";
export type { SchemaLimits } from "./limits.ts";
export { schemaAllowance } from "./allowance.ts";
export type { SchemaAllowance } from "./allowance.ts";
export { JsonSchemaError } from "./error.ts";
export type { JsonSchemaErrorKind, JsonSchemaErrorOptions } from "./error.ts";

export { compilePattern } from "./pattern/pattern.ts";
export type { Pattern } from "./pattern/pattern.ts";

export { copySchema } from "./copy-schema.ts";
export type { CopiedSchema, CopyOptions } from "./copy-schema.ts";
export { describeValue, pointerTo } from "./json-values.ts";
