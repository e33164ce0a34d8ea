import type { Scenario } from "../world/scenario.ts";

/** One change of the source that breaks a promise. */
export interface Patch {
  /** The source, relative to the root of the repository. */
  readonly file: string;
  /** A piece of it that occurs exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** A deliberately planted bug that the simulator must find. */
export interface Mutant {
  readonly name: string;
  /** What goes wrong with it. */
  readonly why: string;
  readonly patches: readonly Patch[];
  /** The worlds in which it shows, if random ones take long to show it. */
  readonly worlds?: Partial<Scenario>;
}
