import { USAGE_COUNTS } from "@waybill/protocol";
import type { UsageRow } from "@waybill/protocol";
import { currentWork } from "./current-work.ts";

/** The counts of a framework or a provider. They may be missing, null or anything else. */
export type CountedUsage = { readonly [Name in Exclude<keyof UsageRow, "cost">]?: unknown };

/**
 * Makes a row of usage from a framework's counts. Invalid counts are left out, and so are rows without
 * any: work never fails because a provider counts oddly. If there are more cached than input tokens,
 * they count as input tokens.
 *
 * @example
 * ```ts
 * const row = usageRowOf({ model, requests: 1, input_tokens: usage.promptTokens });
 * if (row !== undefined) run.addUsage(row);
 * ```
 */
export function usageRowOf(counted: CountedUsage): UsageRow | undefined {
  const row: UsageRow = {};
  for (const name of USAGE_COUNTS) {
    const count = counted[name];
    if (Number.isSafeInteger(count) && (count as number) >= 0) row[name] = count as number;
  }
  if (USAGE_COUNTS.every((name) => (row[name] ?? 0) === 0)) return undefined;
  for (const [part, whole] of PARTS) {
    if ((row[part] ?? 0) > (row[whole] ?? 0)) row[whole] = row[part];
  }
  const { model } = counted;
  return typeof model === "string" && model !== "" ? { model: model.slice(0, 256), ...row } : row;
}

/**
 * Adds a model's usage to the work inside which this code runs. Outside of served work nothing is
 * counted.
 */
export function countUsage(counted: CountedUsage): void {
  const row = usageRowOf(counted);
  if (row !== undefined) currentWork()?.addUsage(row);
}

const PARTS = [
  ["cached_input_tokens", "input_tokens"],
  ["reasoning_tokens", "output_tokens"],
] as const;
