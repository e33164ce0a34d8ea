import type { TextPage } from "../store.ts";

export function take<Value>(values: Iterable<Value>, limit: number): Value[] {
  const taken: Value[] = [];
  if (limit <= 0) return taken;
  for (const value of values) {
    taken.push(value);
    if (taken.length >= limit) break;
  }
  return taken;
}

/** The same for texts: up to the one that reaches the page's limit of characters. */
export function takeTexts<Value>(
  values: Iterable<Value>,
  { limit, characters = Infinity }: Omit<TextPage<never>, "after">,
  lengthOf: (value: Value) => number,
): Value[] {
  let sum = 0;
  function* untilFull(): Generator<Value> {
    for (const value of values) {
      yield value;
      sum += lengthOf(value);
      if (sum >= characters) return;
    }
  }
  return take(untilFull(), limit);
}
