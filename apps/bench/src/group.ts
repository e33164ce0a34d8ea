/** Milliseconds that only rise. */
export type Clock = () => number;

/** What a run may report: the milliseconds that count, where the whole call is not what is meant. */
export type Elapsed = void | number;

/** One thing to measure. An operation is what its `perSecond` counts. */
export interface Case {
  readonly name: string;
  /** Operations that only come together, such as a batch; 1 where left out. */
  readonly opsPerRun?: number;
  /** It computes and never waits: what the processor did for others is then no time of its own. */
  readonly isComputing?: boolean;
  /** Before the warm-up, untimed. */
  prepare?(): void | Promise<void>;
  /** Does `operations` of them, always a multiple of `opsPerRun`. Reports by `clock`, if at all. */
  run(operations: number, clock: Clock): Elapsed | Promise<Elapsed>;
  /** After the last round, also when something failed. */
  dispose?(): void | Promise<void>;
}

export type Bound = `${">=" | "<="} ${number}`;

/** How one case stands to another of the same run. */
export interface Ratio {
  readonly name: string;
  /** The time of an operation, or the operations in a second: of `of`, divided by that of `to`. */
  readonly compares: "time" | "rate";
  readonly of: string;
  /** Another case, or a fixed rate: so many operations a second. */
  readonly to: string | number;
  readonly meaning: string;
  /** Left out for a ratio that is only shown. */
  readonly wanted?: Bound;
}

export interface Group {
  readonly cases: readonly Case[];
  readonly ratios: readonly Ratio[];
}
