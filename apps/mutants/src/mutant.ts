/** A test by its file, relative to its package, and its full name: "group > test". */
export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** A plausible fault that a test of its package must detect. */
export interface Mutant {
  /** What goes wrong with it. */
  readonly name: string;
  /** The source, relative to the package. */
  readonly file: string;
  /** A piece of it that occurs exactly once. */
  readonly find: string;
  readonly replace: string;
  readonly seenBy: NamedTest;
}

export function testsOf(file: string): (name: string) => NamedTest {
  return (name) => ({ file, name });
}
