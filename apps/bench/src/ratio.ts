import type { Bound, Ratio } from "./group.ts";
import type { CaseResult } from "./measure.ts";
import { median, spreadPercent } from "./statistics.ts";

export interface RatioResult {
  readonly name: string;
  readonly value: number;
  readonly spreadPercent: number;
  readonly meaning: string;
  readonly wanted?: Bound;
  readonly isMet?: boolean;
}

/**
 * Each round gives a ratio of its own, and their median counts: a slow phase of the machine slows
 * down both sides of a round, and cancels out.
 */
export function ratioOf(ratio: Ratio, results: readonly CaseResult[]): RatioResult {
  const of = ratesOf(ratio.of);
  const to = typeof ratio.to === "number" ? of.map(() => ratio.to as number) : ratesOf(ratio.to);
  const paired = of.map((rate, round) =>
    ratio.compares === "rate" ? rate / to[round]! : to[round]! / rate,
  );
  const value = median(paired);
  const { name, meaning, wanted } = ratio;
  return {
    name,
    value,
    spreadPercent: spreadPercent(paired),
    meaning,
    ...(wanted !== undefined && { wanted, isMet: isWithin(value, wanted) }),
  };

  function ratesOf(side: string): readonly number[] {
    const result = results.find((each) => each.name === side);
    if (result === undefined) {
      throw new Error(`The ratio ${ratio.name} speaks of the case "${side}", which there is not.`);
    }
    return result.rates;
  }
}

function isWithin(value: number, wanted: Bound): boolean {
  const limit = Number(wanted.slice(3));
  return wanted.startsWith(">=") ? value >= limit : value <= limit;
}
