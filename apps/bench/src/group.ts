/** Milliseconds that never decrease. */
export type Clock = () => number;

/** A run may report the milliseconds that count, if they are not those of the whole call. */
export type Elapsed = void | number;

/** One thing to measure. `perSecond` counts its operations. */
export interface Case {
  readonly name: string;
  /** The number of operations that only come together, such as a batch; by default 1. */
  readonly opsPerRun?: number;
  /** Whether it computes and never waits: then time that the processor spent on others is not counted. */
  readonly isComputing?: boolean;
  /** Runs before the warm-up, untimed. */
  prepare?(): void | Promise<void>;
  /**
   * Runs `operations` of them, always a multiple of `opsPerRun`. May report its time, measured by
   * `clock`.
   */
  run(operations: number, clock: Clock): Elapsed | Promise<Elapsed>;
  /** Runs after the last round, also after a failure. */
  dispose?(): void | Promise<void>;
}

export type Bound = `${">=" | "<="} ${number}`;

/** Compares one case with another of the same run. */
export interface Ratio {
  readonly name: string;
  /** The time of an operation, or the operations in a second: of `of`, divided by that of `to`. */
  readonly compares: "time" | "rate";
  readonly of: string;
  /** Another case, or a fixed rate in operations a second. */
  readonly to: string | number;
  readonly meaning: string;
  /** By default the ratio is only shown. */
  readonly wanted?: Bound;
}

export interface Group {
  readonly cases: readonly Case[];
  readonly ratios: readonly Ratio[];
}
