import type { PhaseReport } from "../honest/messages.ts";

/** What one attack did to a hub. Times are in milliseconds. */
export interface Facts {
  /** The honest handoffs of the same run while nothing attacked. */
  readonly quietP99: number;
  /** Those that were due during the attack. */
  readonly attacked: PhaseReport;
  /** Those from the end of the attack until the hub was killed and back. */
  readonly afterwards: PhaseReport;
  /** Those after its restart. */
  readonly restarted: PhaseReport;
  readonly loopDelay: number;
  readonly peakMb: number;
  /** Whether it answered once the attack was over, the same after its restart. */
  readonly answers: boolean;
  readonly answersAgain: boolean;
  /** The longest that a newcomer waited for its first result, during the attack or after it. */
  readonly newcomer: number;
  readonly restart: number;
  readonly restartedMb: number;
  readonly crashes: number;
  /** The end of what a hub that crashed said last. */
  readonly lastWords: string;
  readonly tally: Readonly<Record<string, number>>;
  /** The reason for the first refusal of each status. */
  readonly reasons: Readonly<Record<string, string>>;
  readonly faults: readonly string[];
  /** What a class of its own found wrong. */
  readonly found: readonly string[];
}
