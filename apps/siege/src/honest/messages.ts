/** The results of one phase's honest handoffs. Times are in milliseconds. */
export interface PhaseReport {
  readonly made: number;
  readonly completed: number;
  /** Handoffs that the hub refused, which it may do if its disk is full. */
  readonly refused: number;
  readonly wrong: readonly string[];
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The p99 of this process's own event loop delay, which is the machine's share. */
  readonly ownDelay: number;
}

export type ToHonest =
  /** From now on handoffs belong to this phase. */
  | { readonly type: "phase"; readonly name: string }
  /** Wait for all handoffs of that phase, up to a time, and report. */
  | { readonly type: "report"; readonly name: string; readonly withinMs: number }
  /** A new agent connects and hands off once. */
  | { readonly type: "join"; readonly withinMs: number }
  | { readonly type: "end" };

export type FromHonest =
  | { readonly type: "ready" }
  | { readonly type: "begun" }
  | { readonly type: "reported"; readonly report: PhaseReport }
  /** How long the newcomer waited for its result, in milliseconds; null if it had none in time. */
  | { readonly type: "joined"; readonly ms: number | null; readonly error?: string };
