import type { PhaseReport } from "../honest/messages.ts";

/** What one attack did to a hub. Times are in milliseconds. */
export interface Facts {
  /** The honest handoffs of the same run without an attack. */
  readonly quietP99: number;
  /** Those that were due during the attack. */
  readonly attacked: PhaseReport;
  /** Those from the end of the attack until the hub was killed and back. */
  readonly afterwards: PhaseReport;
  /** Those after its restart. */
  readonly restarted: PhaseReport;
  readonly loopDelay: number;
  readonly peakMb: number;
  /** Whether it answered after the attack, and again after its restart. */
  readonly answers: boolean;
  readonly answersAgain: boolean;
  /** The longest time that a newcomer waited for its first result, during the attack or after it. */
  readonly newcomer: number;
  readonly restart: number;
  readonly restartedMb: number;
  readonly crashes: number;
  /** The end of a crashed hub's output. */
  readonly lastWords: string;
  readonly tally: Readonly<Record<string, number>>;
  /** The reason for the first refusal of each status. */
  readonly reasons: Readonly<Record<string, string>>;
  readonly faults: readonly string[];
  /** What a class found wrong with its own checks. */
  readonly found: readonly string[];
}

const NO_PHASE: PhaseReport = {
  made: 0,
  completed: 0,
  refused: 0,
  wrong: [],
  p50: 0,
  p99: 0,
  max: 0,
  ownDelay: 0,
};

/** The facts of a class that could not be run. */
export const NOTHING: Facts = {
  quietP99: 0,
  attacked: NO_PHASE,
  afterwards: NO_PHASE,
  restarted: NO_PHASE,
  loopDelay: 0,
  peakMb: 0,
  answers: false,
  answersAgain: false,
  newcomer: 0,
  restart: 0,
  restartedMb: 0,
  crashes: 0,
  lastWords: "",
  tally: {},
  reasons: {},
  faults: [],
  found: [],
};
