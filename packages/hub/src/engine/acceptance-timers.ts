import type { Clock } from "@waybill/protocol/wire";

/** A recipient's unsigned word that it has taken an attempt. It is in no commit; a signed acceptance follows. */
export interface TakenAttempt {
  readonly by: string;
  readonly attempt: number;
  readonly at: number;
  /** When the grace for its acceptance is over. */
  readonly until: number;
}

/**
 * Wakes handoffs whose attempt was taken and not accepted in time, which no store could tell of. It
 * holds one timer for all. Nearly every attempt is accepted within moments: so few stand here at
 * once that it is cheapest to look through all of them when the timer has come.
 */
export class AcceptanceTimers {
  readonly #clock: Clock;
  readonly #lapsed: (id: string, taken: TakenAttempt) => void;
  readonly #taken = new Map<string, TakenAttempt>();
  #armedAt = Infinity;
  #disarm: (() => void) | undefined;
  #isStopped = false;

  constructor(clock: Clock, lapsed: (id: string, taken: TakenAttempt) => void) {
    this.#clock = clock;
    this.#lapsed = lapsed;
  }

  note(id: string, taken: TakenAttempt): void {
    if (this.#isStopped) return;
    this.#taken.set(id, taken);
    this.#arm(taken.until);
  }

  /** What was said of it is on disk, with the time to wake it at. */
  forget(id: string): void {
    this.#taken.delete(id);
  }

  stop(): void {
    this.#isStopped = true;
    this.#disarm?.();
    this.#taken.clear();
  }

  #arm(at: number): void {
    if (at >= this.#armedAt) return;
    this.#disarm?.();
    this.#armedAt = at;
    this.#disarm = this.#clock.setTimer(Math.max(at, this.#clock.now()), () => this.#run());
  }

  #run(): void {
    this.#disarm = undefined;
    this.#armedAt = Infinity;
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
    this.#arm(next);
  }
}
