import type { Scenario } from "../world/scenario.ts";

/** One change of the source that breaks a promise. */
export interface Patch {
  /** The source, from the root of the repository. */
  readonly file: string;
  /** A piece of it that occurs exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** A bug that is planted on purpose: the simulator must find it. */
export interface Mutant {
  readonly name: string;
  /** What goes wrong with it. */
  readonly why: string;
  readonly patches: readonly Patch[];
  /** The worlds in which it shows, where it would take long to by chance. */
  readonly worlds?: Partial<Scenario>;
}
