import type { Spend } from "./pattern/pattern.ts";
import { costOfText, STEPS } from "./costs.ts";
import type { CheckRun } from "./evaluate.ts";
import { comparableText } from "./json-values.ts";

const free: Spend = () => undefined;

/**
 * A test for membership that costs little more with ten thousand values than with ten. Numbers are
 * sorted and never keys of a hash table: an attacker easily finds numbers that share a bucket.
 */
export function isOneOf(allowed: readonly unknown[]): (value: unknown, run: CheckRun) => boolean {
  const numbers = sorted(allowed);
  const texts = new Set<unknown>();
  const composed = new Set<string>();
  let longest = 0;
  for (const value of allowed) {
    if (typeof value === "number") continue;
    if (isPlain(value)) {
      texts.add(value);
      continue;
    }
    const text = comparableText(value, free)!;
    longest = Math.max(longest, text.length);
    composed.add(text);
  }
  const steps = 1 + Math.ceil(Math.log2(numbers.length + 1));
  return (value, run) => {
    if (typeof value === "number") {
      run.spend(steps);
      return isAmong(numbers, value);
    }
    if (isPlain(value)) {
      run.spend(STEPS.lookup + (typeof value === "string" ? costOfText(value) : 0));
      return texts.has(value);
    }
    if (composed.size === 0) return false;
    const text = comparableText(value, run.spend, longest);
    run.spend(STEPS.found);
    return text !== undefined && composed.has(text);
  };
}

/** The index of the first item that equals an earlier one, or -1. */
export function findDuplicate(items: readonly unknown[], spend: Spend): number {
  spend(items.length);
  const numbers = sorted(items, spend);
  for (let index = 1; index < numbers.length; index += 1) {
    const duplicate = numbers[index]!;
    if (duplicate === numbers[index - 1])
      return items.indexOf(duplicate, items.indexOf(duplicate) + 1);
  }
  const texts = new Set<unknown>();
  const composed = new Set<string>();
  return items.findIndex((item) => {
    if (typeof item === "number") return false;
    const known: Set<unknown> = isPlain(item) ? texts : composed;
    const key = isPlain(item) ? item : comparableText(item, spend);
    spend(STEPS.evaluated + (typeof key === "string" ? costOfText(key) : 0));
    if (known.has(key)) return true;
    known.add(key);
    return false;
  });
}

function isPlain(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/** The numbers among some values, in order. */
function sorted(values: readonly unknown[], spend: Spend = free): Float64Array {
  const numbers = new Float64Array(values.length);
  let count = 0;
  for (const value of values) if (typeof value === "number") numbers[count++] = value;
  spend(STEPS.sorted * count);
  return numbers.slice(0, count).sort();
}

function isAmong(numbers: Float64Array, wanted: number): boolean {
  let low = 0;
  let high = numbers.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const here = numbers[middle]!;
    if (here === wanted) return true;
    if (here < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
