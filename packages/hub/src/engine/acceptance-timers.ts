import type { Clock } from "@waybill/protocol/wire";
import { DeadlineTimer } from "../deadline-timer.ts";

/**
 * A recipient's unsigned message that it has taken an attempt. It is in no commit; a signed
 * acceptance follows.
 */
export interface TakenAttempt {
  readonly by: string;
  readonly attempt: number;
  readonly at: number;
  /** When the grace for its acceptance is over. */
  readonly until: number;
}

/**
 * Wakes handoffs whose attempt was taken and not accepted in time. The store does not know which were
 * taken. It holds one timer for all. Nearly every attempt is accepted within moments, so there are
 * few at a time, and scanning them when the timer fires is cheapest.
 */
export class AcceptanceTimers {
  readonly #clock: Clock;
  readonly #lapsed: (id: string, taken: TakenAttempt) => void;
  readonly #taken = new Map<string, TakenAttempt>();
  readonly #timer: DeadlineTimer;
  #isStopped = false;

  constructor(clock: Clock, lapsed: (id: string, taken: TakenAttempt) => void) {
    this.#clock = clock;
    this.#lapsed = lapsed;
    this.#timer = new DeadlineTimer(clock, () => this.#run());
  }

  note(id: string, taken: TakenAttempt): void {
    if (this.#isStopped) return;
    this.#taken.set(id, taken);
    this.#timer.note(taken.until);
  }

  /** The attempt's state is on disk, with its own timer. */
  forget(id: string): void {
    this.#taken.delete(id);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer.clear();
    this.#taken.clear();
  }

  #run(): void {
    const now = this.#clock.now();
    let next = Infinity;
    for (const [id, taken] of this.#taken) {
      if (taken.until > now) {
        next = Math.min(next, taken.until);
        continue;
      }
      this.#taken.delete(id);
      this.#lapsed(id, taken);
    }
    this.#timer.note(next);
  }
}
