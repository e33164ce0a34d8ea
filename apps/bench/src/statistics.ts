export function median(values: readonly number[]): number {
  const sorted = inOrder(values);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The smallest value that at least the share `p` of all values does not exceed. */
export function quantile(values: readonly number[], p: number): number {
  const sorted = inOrder(values);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)]!;
}

/**
 * The median distance from the median, in percent of it: half of the values lie within. Unlike a
 * standard deviation, it is not dominated by a single disturbed round.
 */
export function spreadPercent(values: readonly number[]): number {
  const middle = median(values);
  return (100 * median(values.map((value) => Math.abs(value - middle)))) / middle;
}

function inOrder(values: readonly number[]): Float64Array {
  if (values.length === 0) throw new RangeError("There is no median of no values.");
  return Float64Array.from(values).sort();
}
