import { LIMITS } from "../limits.ts";
import { addMoney } from "./money.ts";
import type { Money } from "./money.ts";

/**
 * The usage of one model. Cached input tokens are part of the input tokens, and reasoning tokens part
 * of the output tokens. A missing member is unknown.
 */
export interface UsageRow {
  /** The model, under its provider's name for it. */
  model?: string | undefined;
  /** Requests to the model. */
  requests?: number | undefined;
  input_tokens?: number | undefined;
  cached_input_tokens?: number | undefined;
  output_tokens?: number | undefined;
  reasoning_tokens?: number | undefined;
  cost?: Money | undefined;
}

/** The usage of an attempt, as its recipient reports it in a result or in a pausing question. */
export interface Usage {
  /** By the attempt itself, without its children. */
  own?: UsageRow[] | undefined;
  /** By earlier attempts that have paused, and that this one continues. */
  earlier?: UsageRow[] | undefined;
  /** By the children of the handoff, each counted once. */
  children?: UsageRow[] | undefined;
  /** The ids of the children whose usage is in `children`. */
  handoffs?: string[] | undefined;
}

/** The sum of rows. Counts that no row has are 0. */
export interface UsageTotal {
  readonly requests: number;
  readonly input_tokens: number;
  readonly cached_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  /** One amount for each currency. */
  readonly costs: readonly Money[];
}

/** The counts of a row, in the order in which people read them. */
export const USAGE_COUNTS = [
  "requests",
  "input_tokens",
  "cached_input_tokens",
  "output_tokens",
  "reasoning_tokens",
] as const;

/**
 * Merges rows to one row for each model and currency. Beyond 64 of them, those after the 32nd become
 * one row without a model for each currency.
 *
 * @example
 * ```ts
 * mergeUsage([{ model: "m", input_tokens: 3 }, { model: "m", input_tokens: 4 }]);
 * // [{ model: "m", input_tokens: 7 }]
 * ```
 */
export function mergeUsage(rows: Iterable<UsageRow>): UsageRow[] {
  const merged = mergedBy(rows, ({ model, cost }) => `${cost?.currency ?? ""} ${model ?? ""}`);
  const most = LIMITS.usageRows;
  if (merged.length <= most) return merged;
  // No provider has so many currencies; a recipient that invents more loses the rest.
  const kept = merged.slice(0, most / 2);
  const others = merged.slice(most / 2).map((row) => ({ ...row, model: undefined }));
  const rest = mergedBy(others, ({ cost }) => cost?.currency ?? "");
  return [...kept, ...rest].slice(0, most);
}

function mergedBy(rows: Iterable<UsageRow>, keyOf: (row: UsageRow) => string): UsageRow[] {
  const merged = new Map<string, UsageRow>();
  for (const row of rows) {
    const key = keyOf(row);
    const sum = merged.get(key);
    merged.set(key, sum === undefined ? { ...row } : addRows(sum, row));
  }
  return [...merged.values()];
}

function addRows(one: UsageRow, other: UsageRow): UsageRow {
  const sum: UsageRow = { ...one };
  for (const name of USAGE_COUNTS) {
    const count = addCounts(one[name], other[name]);
    if (count !== undefined) sum[name] = count;
  }
  if (one.cost !== undefined && other.cost !== undefined) {
    sum.cost = addMoney(one.cost, other.cost);
  }
  return sum;
}

/** A sum that JSON can't represent exactly is capped. */
function addCounts(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/**
 * The sum of a usage: own, earlier and children.
 *
 * @example
 * ```ts
 * const { input_tokens, output_tokens, costs } = totalUsage(usage);
 * ```
 */
export function totalUsage(usage: Usage | undefined): UsageTotal {
  return sumUsage(usageRows(usage));
}

/** All rows of a usage, one for each model and currency. */
export function usageRows({ own = [], earlier = [], children = [] }: Usage = {}): UsageRow[] {
  return mergeUsage([...own, ...earlier, ...children]);
}

/** The sum of rows, over all models. */
export function sumUsage(rows: Iterable<UsageRow>): UsageTotal {
  const sum = {
    requests: 0,
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
  };
  const costs = new Map<string, Money>();
  for (const row of rows) {
    for (const name of USAGE_COUNTS) sum[name] = addCounts(sum[name], row[name])!;
    const { cost } = row;
    if (cost === undefined) continue;
    const known = costs.get(cost.currency);
    costs.set(cost.currency, known === undefined ? cost : addMoney(known, cost));
  }
  return { ...sum, costs: [...costs.values()] };
}
