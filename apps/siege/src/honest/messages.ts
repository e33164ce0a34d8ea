/** How the honest handoffs of one phase went. Times are in milliseconds. */
export interface PhaseReport {
  readonly made: number;
  readonly completed: number;
  /** Those that the hub did not take into custody, which it may do where there is no space. */
  readonly refused: number;
  readonly wrong: readonly string[];
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The p99 of the delay of this process's own event loop: what the machine adds. */
  readonly ownDelay: number;
}

export type ToHonest =
  /** From now on handoffs are of this phase. */
  | { readonly type: "phase"; readonly name: string }
  /** Wait for all of that phase, within a time, and report. */
  | { readonly type: "report"; readonly name: string; readonly withinMs: number }
  /** Somebody new connects and hands off once. */
  | { readonly type: "join"; readonly withinMs: number }
  | { readonly type: "end" };

export type FromHonest =
  | { readonly type: "ready" }
  | { readonly type: "begun" }
  | { readonly type: "reported"; readonly report: PhaseReport }
  /** After how many milliseconds the newcomer had its result; null where it had none in time. */
  | { readonly type: "joined"; readonly ms: number | null; readonly error?: string };
