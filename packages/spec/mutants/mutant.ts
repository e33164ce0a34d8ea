/** One way to break a rule in the source, which a test of that rule must detect. */
export interface Mutant {
  /** The rule of the specification that it breaks. */
  readonly rule: string;
  /** The source, relative to the protocol's folder. That of the schema validator is beside it. */
  readonly file: string;
  /** A piece of it that occurs exactly once. */
  readonly find: string;
  readonly replace: string;
  /** What an implementation with this fault does. */
  readonly why: string;
}
