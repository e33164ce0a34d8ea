import type * as z from "zod";
import { fromSchemaError } from "../envelope/schema-error.ts";

/** Validates a value by its schema; throws a 400 that names the place and the rule. */
export function checked<Shape>(shape: z.ZodType<Shape>, value: unknown, what: string): Shape {
  const result = shape.safeParse(value);
  if (!result.success) throw fromSchemaError(result.error, what);
  return result.data;
}
