import * as z from "zod";
import { fromSchemaError } from "../envelope/schema-error.ts";
import { lazy } from "../lazy.ts";
import { AMOUNT, CURRENCY } from "./money.ts";
import type { Money } from "./money.ts";
import type { UsageRow } from "./usage.ts";

export interface UsageSchemas {
  readonly money: z.ZodType<Money>;
  readonly row: z.ZodType<UsageRow>;
}

/** The wire form of an amount and a row. */
export const usageSchemas: () => UsageSchemas = lazy(() => {
  const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional();
  const money = z.object({
    amount: z
      .string()
      .regex(AMOUNT, "must be a decimal such as 0.0042, with at most 12 digits after the point"),
    currency: z.string().regex(CURRENCY, "must be a code of ISO 4217 such as USD"),
  });
  const row = z
    .object({
      model: z.string().min(1).max(256).optional(),
      requests: count,
      input_tokens: count,
      cached_input_tokens: count,
      output_tokens: count,
      reasoning_tokens: count,
      cost: money.optional(),
    })
    .refine((of) => isPart(of.cached_input_tokens, of.input_tokens), {
      error: "cached_input_tokens must not be more than input_tokens: they are part of them",
    })
    .refine((of) => isPart(of.reasoning_tokens, of.output_tokens), {
      error: "reasoning_tokens must not be more than output_tokens: they are part of them",
    });
  return { money, row };
});

function isPart(part = 0, whole = 0): boolean {
  return part <= whole;
}

/**
 * Validates a row that a program has put together; throws a 400 that names what is wrong.
 *
 * @example
 * ```ts
 * const row = readUsageRow({ model: "m", input_tokens: 12, cost: { amount: "0.01", currency: "USD" } });
 * ```
 */
export function readUsageRow(value: unknown): UsageRow {
  const read = usageSchemas().row.safeParse(value);
  if (read.success) return read.data;
  throw fromSchemaError(read.error, "The usage");
}
