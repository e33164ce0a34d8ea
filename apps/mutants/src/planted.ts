import type { Kind } from "./arguments.ts";

/** A fault that was planted, and what came of it. */
export interface Planted {
  readonly package: string;
  readonly kind: Kind;
  readonly name: string;
  /** The test that noticed it; for a fault by hand, the one that its table names. */
  readonly killedBy: string | undefined;
  /** Why it was not noticed. */
  readonly reason: string | undefined;
}

export interface Survivor {
  readonly package: string;
  readonly name: string;
  readonly reason: string;
}

export interface Summary {
  readonly planted: number;
  readonly killed: number;
  readonly survived: readonly Survivor[];
}

export function summaryOf(all: readonly Planted[]): Summary {
  const survived = all.flatMap(({ package: folder, name, reason }) =>
    reason === undefined ? [] : [{ package: folder, name, reason }],
  );
  return { planted: all.length, killed: all.length - survived.length, survived };
}

const KILLED_AT_LEAST = 0.9;

/**
 * How many survivors are a failure. The tests must notice every fault by hand, and most of all faults:
 * then no generated one counts. The rate of a sample says little, so only its faults by hand count.
 */
export function failuresOf(all: readonly Planted[], isSample: boolean): number {
  const { planted, killed, survived } = summaryOf(all);
  const isRateGood = isSample || killed >= KILLED_AT_LEAST * planted;
  if (!isRateGood) return survived.length;
  return all.filter(({ kind, reason }) => kind === "by hand" && reason !== undefined).length;
}
