import type { RankedCandidate } from "./discovery.ts";

/** The least share of the fastest candidate's weight, so that a slow one stays measured. */
const LEAST_SPEED = 0.05;

/**
 * Picks one of the fitting candidates so that work spreads: draws two, weighted by speed, and takes
 * the one that uses the smaller share of its room. Candidates of worse standing are picked only if
 * there is no better one, and one at a time when they are due for a trial. `random` returns numbers
 * from 0 up to, but not including, 1.
 */
export function chooseCandidate(
  fits: readonly RankedCandidate[],
  random: () => number,
): RankedCandidate | undefined {
  const [best] = fits;
  if (best === undefined) return undefined;
  // It may work again: it gets a single piece of work, and its record decides about more.
  const due = fits.find(({ isDueForTrial }) => isDueForTrial === true);
  if (due !== undefined) return due;
  const equals = fits.filter(({ standing }) => standing === best.standing);
  if (equals.length === 1) return best;
  const weights = weightsOf(equals);
  const first = draw(equals, weights, random);
  const second = draw(equals, weights, random);
  return loadOf(second) < loadOf(first) ? second : first;
}

/**
 * Twice as fast is twice the weight. A candidate that was never measured counts like the average of
 * the others.
 */
function weightsOf(fits: readonly RankedCandidate[]): readonly number[] {
  const means = fits.flatMap(({ meanMs }) => (meanMs === undefined ? [] : [Math.max(1, meanMs)]));
  if (means.length === 0) return fits.map(() => 1);
  const fastest = Math.min(...means);
  const speed = (meanMs: number) => Math.max(LEAST_SPEED, fastest / Math.max(1, meanMs));
  const average = means.reduce((sum, meanMs) => sum + speed(meanMs), 0) / means.length;
  return fits.map(({ meanMs }) => (meanMs === undefined ? average : speed(meanMs)));
}

function draw(
  fits: readonly RankedCandidate[],
  weights: readonly number[],
  random: () => number,
): RankedCandidate {
  let left = random() * weights.reduce((sum, weight) => sum + weight, 0);
  const index = weights.findIndex((weight) => (left -= weight) < 0);
  return fits[index] ?? fits.at(-1)!;
}

/** The used share of its room. */
function loadOf({ inFlight = 0, credit }: RankedCandidate): number {
  return credit === undefined ? 0 : inFlight / Math.max(1, inFlight + credit);
}
