import type * as z from "zod";
import { fromSchemaError } from "../envelope/schema-error.ts";

/** The value, held to its schema; a 400 that names place and rule where it breaks it. */
export function checked<Shape>(shape: z.ZodType<Shape>, value: unknown, what: string): Shape {
  const result = shape.safeParse(value);
  if (!result.success) throw fromSchemaError(result.error, what);
  return result.data;
}
