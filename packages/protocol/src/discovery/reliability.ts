import { WaybillError } from "../error.ts";
import type { StatusCode } from "../status.ts";
import type { CloseReason } from "../lifecycle/transitions.ts";

/** The measured reliability of one agent. Plain data: a hub stores it as it is. */
export interface ReliabilityStats {
  /** Weight of the successes: 1 when counted, and halved in each half-life. */
  readonly successes: number;
  readonly failures: number;
  /** When the weights were last updated, in milliseconds; null before the first outcome. */
  readonly measuredAt: number | null;
  readonly consecutiveFailures: number;
  /** Ejections since the last success: each one lasts longer than the one before. */
  readonly ejections: number;
  /** Until when it ranks behind all others, in milliseconds; null without an ejection. */
  readonly ejectedUntil: number | null;
  /** All losses of one crash are one failure: losses until this time belong to the crash that was counted. */
  readonly crashUntil: number | null;
  /** How long an attempt takes, from offer to result, as a moving average; null if unknown. */
  readonly meanMs: number | null;
}

/** The measurements of an agent that nothing is known about yet. */
export const NO_STATS: ReliabilityStats = {
  successes: 0,
  failures: 0,
  measuredAt: null,
  consecutiveFailures: 0,
  ejections: 0,
  ejectedUntil: null,
  crashUntil: null,
  meanMs: null,
};

/** How outcomes are weighed. */
export const MEASURING: {
  readonly halfLifeMs: number;
  readonly prior: { readonly successes: number; readonly failures: number };
  readonly crashMs: number;
  readonly durationShare: number;
} = {
  /** The half-life of an outcome, so that an agent that works again is trusted again. */
  halfLifeMs: 15 * 60_000,
  /**
   * Outcomes that every agent starts with: they decide about a newcomer, and hardly count beside a
   * record.
   */
  prior: { successes: 3, failures: 1 },
  /** Attempts that an agent loses within this time of its crash are lost by that crash. */
  crashMs: 60_000,
  /** The weight of the newest duration in the moving average. */
  durationShare: 0.2,
};

/** How one attempt ended. */
export interface Outcome {
  readonly status: StatusCode;
  readonly at: number;
  /** The status of the recipient's result; undefined if it sent none. */
  readonly closed?: CloseReason | undefined;
  /** Whether the recipient had accepted: from then on, running out of time is its fault. */
  readonly isAccepted?: boolean | undefined;
  /** Whether it was lost because its process is gone. */
  readonly isCrash?: boolean | undefined;
  /** How long it took, if that says something about the recipient. */
  readonly tookMs?: number | undefined;
}

type Verdict = "success" | "failure" | "failure_once_accepted" | "not_its_doing";

/**
 * Who caused an outcome. Only those that the recipient caused count: a delegator can't spoil a record
 * with bad input, by cancelling or by asking for the impossible.
 */
const STATUS_VERDICTS: Readonly<Record<StatusCode, Verdict>> = {
  100: "not_its_doing",
  101: "not_its_doing",
  102: "not_its_doing",
  103: "not_its_doing",
  200: "success",
  // A duplicate: the outcome was counted when it came first.
  201: "not_its_doing",
  300: "not_its_doing",
  301: "not_its_doing",
  400: "not_its_doing",
  401: "not_its_doing",
  403: "not_its_doing",
  404: "not_its_doing",
  406: "not_its_doing",
  409: "not_its_doing",
  410: "not_its_doing",
  413: "not_its_doing",
  422: "not_its_doing",
  // Counted against the child.
  424: "not_its_doing",
  499: "not_its_doing",
  500: "failure",
  501: "failure",
  502: "failure",
  503: "failure",
  504: "failure_once_accepted",
  // Each of the attempts was counted.
  508: "not_its_doing",
  520: "failure",
};

const CLOSE_VERDICTS: Readonly<Record<CloseReason, Verdict | "by_status">> = {
  result: "by_status",
  rejected: "not_its_doing",
  released: "not_its_doing",
  paused: "not_its_doing",
  interrupted: "failure",
  lease_lost: "failure",
  unreachable: "failure",
  superseded: "by_status",
};

/** When an agent that keeps failing is put behind all others, and for how long. */
export const EJECTION = {
  /** After this many failures in a row the agent ranks behind all others for a while. */
  afterFailures: 3,
  baseMs: 30_000,
  factor: 2,
  /** It is tried again within a minute: only that shows whether it works again. */
  capMs: 60_000,
} as const;

/** True for a success, false for a failure, undefined if the recipient did not cause it. */
export function isSuccess({ status, closed = "result", isAccepted }: Outcome): boolean | undefined {
  const byClose = CLOSE_VERDICTS[closed];
  const verdict = byClose === "by_status" ? STATUS_VERDICTS[status] : byClose;
  if (verdict === "success") return true;
  if (verdict === "failure") return false;
  return verdict === "failure_once_accepted" && isAccepted === true ? false : undefined;
}

/** The measurements with one more outcome. Outcomes that the recipient did not cause change nothing. */
export function recordOutcome(stats: ReliabilityStats, outcome: Outcome): ReliabilityStats {
  const success = isSuccess(outcome);
  const { at, isCrash = false, tookMs } = outcome;
  if (success === undefined) return stats;
  const { successes, failures } = decayed(stats, at);
  const measuredAt = Math.max(at, stats.measuredAt ?? at);
  if (success) {
    const meanMs = tookMs === undefined ? stats.meanMs : averaged(stats.meanMs, tookMs);
    return { ...NO_STATS, successes: successes + 1, failures, measuredAt, meanMs };
  }
  if (isCrash && stats.crashUntil !== null && at < stats.crashUntil) return stats;
  const failed: ReliabilityStats = {
    ...stats,
    successes,
    failures: failures + 1,
    measuredAt,
    consecutiveFailures: stats.consecutiveFailures + 1,
    ...(isCrash ? { crashUntil: at + MEASURING.crashMs } : {}),
  };
  // Attempts that were under way at its ejection fail with it, and do not prolong it.
  const isDue = failed.consecutiveFailures >= EJECTION.afterFailures;
  if (!isDue || isEjected(stats, at)) return failed;
  const forMs = Math.min(EJECTION.capMs, EJECTION.baseMs * EJECTION.factor ** stats.ejections);
  return { ...failed, ejections: stats.ejections + 1, ejectedUntil: at + forMs };
}

/** The weights of successes and failures at a given time. */
export function decayed(
  { successes, failures, measuredAt }: ReliabilityStats,
  at: number,
): { readonly successes: number; readonly failures: number } {
  if (measuredAt === null || at <= measuredAt) return { successes, failures };
  const share = 0.5 ** ((at - measuredAt) / MEASURING.halfLifeMs);
  return { successes: successes * share, failures: failures * share };
}

function averaged(before: number | null, tookMs: number): number {
  if (before === null) return tookMs;
  return before + MEASURING.durationShare * (tookMs - before);
}

/** Whether an agent is ejected at a time, given in milliseconds since 1970. */
export function isEjected(stats: ReliabilityStats, at: number): boolean {
  return stats.ejectedUntil !== null && at < stats.ejectedUntil;
}

/** z of 1.96: a two-sided confidence of 95 %. */
const DEFAULT_Z = 1.96;

/** The lower bound of the success rate (Wilson's score interval). Without outcomes it is 0. */
export function wilsonLowerBound(successes: number, total: number, z: number = DEFAULT_Z): number {
  if (!(successes >= 0 && total >= successes && Number.isFinite(total) && z >= 0)) {
    throw new WaybillError(
      400,
      `There is no success rate of ${successes} out of ${total} with z ${z}; counts start at 0 and successes are at most the total.`,
    );
  }
  // The formula's two terms cancel here, and rounding would leave a residue.
  if (successes === 0) return 0;
  const rate = successes / total;
  const z2 = z * z;
  const centre = rate + z2 / (2 * total);
  const margin = z * Math.sqrt((rate * (1 - rate) + z2 / (4 * total)) / total);
  return Math.min(1, Math.max(0, (centre - margin) / (1 + z2 / total)));
}

/** The upper bound of the success rate. Without outcomes it is 1. */
export function wilsonUpperBound(successes: number, total: number, z: number = DEFAULT_Z): number {
  return 1 - wilsonLowerBound(total - successes, total, z);
}
