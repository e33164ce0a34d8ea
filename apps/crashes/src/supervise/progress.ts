/// <reference types="node" />
import type { ProcessReport } from "../process/life.ts";

/** Longer than any work takes: without progress for this long, nothing will end any more. */
const STILL_AT_MOST_MS = 60_000;

interface PendingCheck {
  readonly isThere: () => boolean;
  readonly settle: (isThere: boolean) => void;
}

/** The progress of a run, from its processes' reports. */
export class Progress {
  ended = 0;
  isFinished = false;
  isDrained = false;
  /** The failures that processes logged, with their counts. */
  readonly failures: Map<string, number> = new Map();
  #isHopeless = false;
  #waiting: PendingCheck[] = [];
  #stall: NodeJS.Timeout | undefined;

  take(told: ProcessReport): void {
    if (told.type === "failure") {
      this.failures.set(told.message, (this.failures.get(told.message) ?? 0) + 1);
      return;
    }
    if (told.type === "ended") this.ended = Math.max(this.ended, told.count);
    else if (told.type === "finished") this.isFinished = true;
    else if (told.type === "drained") this.isDrained = true;
    this.#look();
  }

  #look(): void {
    clearTimeout(this.#stall);
    const there = this.#waiting.filter(({ isThere }) => isThere());
    this.#waiting = this.#waiting.filter((waiting) => !there.includes(waiting));
    for (const { settle } of there) settle(true);
    if (this.#waiting.length === 0) return;
    if (this.#isHopeless) this.giveUp();
    else this.#stall = setTimeout(() => this.giveUp(), STILL_AT_MOST_MS);
  }

  /** Stops all waiting. */
  giveUp(): void {
    this.#isHopeless = true;
    clearTimeout(this.#stall);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { settle } of waiting) settle(false);
  }

  /** False if the run was given up, or has made no progress for too long. */
  until(isThere: () => boolean): Promise<boolean> {
    return new Promise((settle) => {
      this.#waiting.push({ isThere, settle });
      this.#look();
    });
  }
}
