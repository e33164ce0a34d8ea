/** Pseudo-random numbers in [0, 1), determined by a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of the names, as often as its share says. */
export function pick<Name extends string>(
  shares: Readonly<Record<Name, number>>,
  random: () => number,
): Name {
  const entries = Object.entries(shares) as [Name, number][];
  let at = random() * entries.reduce((sum, [, share]) => sum + share, 0);
  return (entries.find(([, share]) => (at -= share) < 0) ?? entries[0]!)[0];
}
