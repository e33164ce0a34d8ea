import type { Case, Clock } from "./group.ts";
import { median, quantile, spreadPercent } from "./statistics.ts";

export interface MeasureOptions {
  readonly rounds: number;
  /** How long a case runs before the next one's turn. */
  readonly sliceMs: number;
  readonly warmUpMs: number;
  readonly now: Clock;
  /** The processor time of this process. */
  readonly processorTime: Clock;
  onRound?(done: number, rounds: number): void;
}

export interface CaseResult {
  readonly name: string;
  /** Median over the rounds. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly spreadPercent: number;
  /** Operations a second in each round, in order: ratios pair the rounds. */
  readonly rates: readonly number[];
}

/** Shorter blocks are not worth two clock readings. */
const BLOCK_MS = 0.01;

/** Runs all cases in turn, a slice of time each, in many rounds, so that noise affects all alike. */
export async function measure(
  cases: readonly Case[],
  options: MeasureOptions,
): Promise<CaseResult[]> {
  const prepared: Case[] = [];
  try {
    const series: Series[] = [];
    for (const each of cases) {
      prepared.push(each);
      await named(each, async () => {
        await each.prepare?.();
        series.push({ case: each, block: await warmUp(each, options), rates: [], samples: [] });
      });
    }
    options.onRound?.(0, options.rounds);
    for (let round = 0; round < options.rounds; round++) {
      for (let place = 0; place < series.length; place++) {
        // Another case comes first in each round, so that none always follows the same one's garbage.
        const next = series[(round + place) % series.length]!;
        await named(next.case, () => slice(next, options));
      }
      options.onRound?.(round + 1, options.rounds);
    }
    return series.map(resultOf);
  } finally {
    for (const each of prepared) await each.dispose?.();
  }
}

interface Series {
  readonly case: Case;
  /** Operations between two clock readings. */
  readonly block: number;
  readonly rates: number[];
  /** Milliseconds of one operation, one number for each block. */
  readonly samples: number[];
}

/** Runs a case until it is compiled, and determines how many operations make a block. */
async function warmUp(subject: Case, options: MeasureOptions): Promise<number> {
  const { now, warmUpMs } = options;
  let block = subject.opsPerRun ?? 1;
  const start = now();
  do {
    const before = now();
    const elapsed = await subject.run(block, clockOf(subject, options));
    const ms = typeof elapsed === "number" ? elapsed : now() - before;
    if (ms < BLOCK_MS) block *= 2;
  } while (now() - start < warmUpMs);
  return block;
}

async function slice(series: Series, options: MeasureOptions): Promise<void> {
  const { now, sliceMs } = options;
  const { case: subject, block, rates, samples } = series;
  const clock = clockOf(subject, options);
  let operations = 0;
  let reportedMs: number | undefined;
  const clockStart = clock();
  const start = now();
  let before = start;
  do {
    const running = subject.run(block, clock);
    const reported = running instanceof Promise ? await running : running;
    const after = now();
    const isReported = typeof reported === "number";
    if (isReported) reportedMs = (reportedMs ?? 0) + reported;
    samples.push((isReported ? reported : after - before) / block);
    operations += block;
    before = after;
  } while (before - start < sliceMs);
  rates.push((1000 * operations) / (reportedMs ?? clock() - clockStart));
}

function clockOf(subject: Case, { now, processorTime }: MeasureOptions): Clock {
  return subject.isComputing === true ? processorTime : now;
}

function resultOf({ case: { name }, rates, samples }: Series): CaseResult {
  return {
    name,
    perSecond: median(rates),
    p50Ms: quantile(samples, 0.5),
    p99Ms: quantile(samples, 0.99),
    spreadPercent: spreadPercent(rates),
    rates,
  };
}

async function named(subject: Case, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The case "${subject.name}" failed: ${reason}`, { cause });
  }
}
