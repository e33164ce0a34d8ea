/** One fault of an input. */
export interface InputIssue {
  /** A JSON Pointer into the input. */
  readonly at: string;
  /** What was expected there. */
  readonly message: string;
}

/** Why one candidate can't take an input. */
export interface InputRefusal {
  readonly agent_id: string;
  readonly capability: string;
  readonly version: string;
  readonly issues: readonly InputIssue[];
}
