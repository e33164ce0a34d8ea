/** A test by its file, from the folder of its package, and its whole name: "group > test". */
export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** A fault as people make it, which a test of the package that it is planted in must notice. */
export interface Mutant {
  /** What goes wrong with it. */
  readonly name: string;
  /** The source, from the folder of the package. */
  readonly file: string;
  /** A piece of it that occurs exactly once. */
  readonly find: string;
  readonly replace: string;
  readonly seenBy: NamedTest;
}

export function testsOf(file: string): (name: string) => NamedTest {
  return (name) => ({ file, name });
}
