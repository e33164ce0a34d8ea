/// <reference types="node" />
import type { PhaseReport } from "./messages.ts";

/** The honest handoffs that were due in one phase of the run. */
export class Phase {
  made = 0;
  completed = 0;
  refused = 0;
  readonly wrong: string[] = [];
  readonly #times: number[] = [];
  /** The open ones, with the time at which each was due. */
  readonly #open = new Map<Promise<void>, number>();

  /** Tracks a handoff until it has ended. */
  keep(dueAt: number, handoff: Promise<void>): void {
    this.made++;
    const ended = handoff.finally(() => this.#open.delete(ended));
    this.#open.set(ended, dueAt);
  }

  complete(ms: number): void {
    this.completed++;
    this.#times.push(ms);
  }

  /** Settles when all tracked handoffs have ended, or with the signal. */
  async settled(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) =>
      signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    await Promise.race([Promise.all(this.#open.keys()), aborted]);
  }

  report(ownDelay: number): PhaseReport {
    const { made, completed, refused, wrong } = this;
    // A handoff without a result has taken at least this long.
    const waited = [...this.#open.values()].map((dueAt) => performance.now() - dueAt);
    const times = [...this.#times, ...waited].toSorted((a, b) => a - b);
    const quantile = (q: number): number => times[Math.ceil(q * times.length) - 1] ?? 0;
    return {
      made,
      completed,
      refused,
      wrong,
      p50: quantile(0.5),
      p99: quantile(0.99),
      max: quantile(1),
      ownDelay,
    };
  }
}
