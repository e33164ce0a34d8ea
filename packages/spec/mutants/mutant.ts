/** One way to break a rule in the source, which a test of that rule must notice. */
export interface Mutant {
  /** The rule of the specification that it breaks. */
  readonly rule: string;
  /** The source, from the protocol's folder. That of the schema validator is beside it. */
  readonly file: string;
  /** A piece of it that occurs exactly once. */
  readonly find: string;
  readonly replace: string;
  /** What an implementation does that has this fault. */
  readonly why: string;
}
