import type { AttackClass } from "../attack-class.ts";
import type { Facts } from "./facts.ts";

const BOUNDS = {
  quietTimes: 20,
  honestFloorMs: 500,
  memoryMb: 512,
  restartMs: 10_000,
  newcomerMs: 10_000,
} as const;

export interface Problem {
  /**
   * `time`: something was late. `memory`: more than the bound. `reach`: the attack did not reach its
   * target, so the run proves nothing. `newcomer`: a newcomer had no result at all. `safety`:
   * something crashed, was lost, stayed away, or was achieved that must not be.
   */
  readonly of: "time" | "memory" | "reach" | "newcomer" | "safety";
  readonly says: string;
}

/** A busy machine may cause these: a second, longer run decides. */
const MAY_BE_OF_A_BUSY_MACHINE: ReadonlySet<Problem["of"]> = new Set(["time", "newcomer", "reach"]);

export function mayBeOfABusyMachine({ of }: Problem): boolean {
  return MAY_BE_OF_A_BUSY_MACHINE.has(of);
}

/**
 * The same for a noisy machine, where a hub also retains more: memory fails only if it exceeds its
 * bound twice.
 */
export function mayBeOfANoisyMachine(problem: Problem): boolean {
  return mayBeOfABusyMachine(problem) || problem.of === "memory";
}

/** Latency depends on the machine too. Other problems don't. */
export function isLatency({ of }: Problem): boolean {
  return of === "time";
}

type Expected = Pick<AttackClass, "lands" | "never" | "hub">;
type Bound = (facts: Facts, expected: Expected) => string | undefined;

/** What must hold for every attack. A bound returns undefined if it holds, and otherwise the problem. */
const BOUNDS_OF_TIME: readonly Bound[] = [
  ({ attacked, quietP99 }, { hub }) => {
    // Handoffs that were refused on a full disk are completed when there is space again.
    if (hub?.diskBytes !== undefined) return undefined;
    const bound = honestBound(quietP99);
    if (attacked.p99 <= bound) return undefined;
    return `the honest p99 was ${Math.round(attacked.p99)} ms, and the bound is ${Math.round(bound)} ms`;
  },
  ({ newcomer }) =>
    newcomer <= BOUNDS.newcomerMs || newcomer === Infinity
      ? undefined
      : `a newcomer had its result after ${Math.round(newcomer)} ms`,
];

const BOUNDS_OF_NEWCOMERS: readonly Bound[] = [
  ({ newcomer }) => (newcomer === Infinity ? "a newcomer had no result" : undefined),
];

const BOUNDS_OF_REACH: readonly Bound[] = [
  ({ tally }, { lands }) => {
    const missing = lands.filter((outcome) => (tally[outcome] ?? 0) === 0);
    return missing.length === 0
      ? undefined
      : `the attack did not get as far as "${missing.join('", "')}"; it met ${told(tally)}`;
  },
];

const BOUNDS_OF_MEMORY: readonly Bound[] = [
  ({ peakMb }) => tooMuch("it took", peakMb),
  ({ restartedMb }) => tooMuch("after its restart it took", restartedMb),
];

const BOUNDS_OF_SAFETY: readonly Bound[] = [
  ({ crashes, lastWords }) =>
    crashes === 0 ? undefined : `the hub crashed ${crashes} times: ${lastWords.slice(-400)}`,
  ({ answers }) => (answers ? undefined : "it did not answer after the attack"),
  ({ answersAgain }) => (answersAgain ? undefined : "it did not answer after its restart"),
  ({ restart }) =>
    restart <= BOUNDS.restartMs ? undefined : `its restart took ${Math.round(restart)} ms`,
  ({ attacked }, expected) => lost("during the attack", attacked, expected),
  ({ afterwards }, expected) => lost("after the attack", afterwards, expected),
  ({ restarted }, expected) => lost("after the restart", restarted, expected),
  ({ faults }) => (faults.length === 0 ? undefined : `the attack's program: ${faults.join("; ")}`),
  ({ found }) => (found.length === 0 ? undefined : found.join("; ")),
  ({ tally }, { never = [] }) => {
    const met = never.filter((outcome) => (tally[outcome] ?? 0) > 0);
    return met.length === 0
      ? undefined
      : met.map((outcome) => `${outcome} (${tally[outcome]} times)`).join(", ");
  },
];

export function honestBound(quietP99: number): number {
  return Math.max(BOUNDS.quietTimes * quietP99, BOUNDS.honestFloorMs);
}

export function judge(facts: Facts, expected: Expected): readonly Problem[] {
  const found = (of: Problem["of"], bounds: readonly Bound[]): Problem[] =>
    bounds.flatMap((bound) => {
      const says = bound(facts, expected);
      return says === undefined ? [] : [{ of, says }];
    });
  return [
    ...found("time", BOUNDS_OF_TIME),
    ...found("newcomer", BOUNDS_OF_NEWCOMERS),
    ...found("reach", BOUNDS_OF_REACH),
    ...found("memory", BOUNDS_OF_MEMORY),
    ...found("safety", BOUNDS_OF_SAFETY),
  ];
}

function tooMuch(what: string, mb: number): string | undefined {
  return mb <= BOUNDS.memoryMb ? undefined : `${what} ${Math.round(mb)} MB`;
}

function lost(when: string, phase: Facts["attacked"], { hub }: Expected): string | undefined {
  const { made, completed, refused, wrong } = phase;
  const excused = hub?.diskBytes === undefined ? 0 : refused;
  if (made === 0) return `no honest handoff was made ${when}`;
  const missing = made - completed - excused;
  if (missing === 0) return undefined;
  const [first = "it has not ended"] = wrong;
  return `of ${made} honest handoffs ${when} ${missing} did not come back, the first because ${first}`;
}

/** The counted outcomes, most frequent first. */
export function told(tally: Readonly<Record<string, number>>, most = 8): string {
  const counted = Object.entries(tally).toSorted(([, a], [, b]) => b - a);
  return counted
    .slice(0, most)
    .map(([outcome, count]) => `${count} × ${outcome}`)
    .join(", ");
}
