import type { Clock } from "@waybill/protocol/wire";

/**
 * One timer for the earliest of many times. What is due is looked at once at a time, and once more if a
 * time came meanwhile: an answer that was being read may not know of it.
 */
export class DeadlineTimer {
  readonly #clock: Clock;
  readonly #lookAtDue: () => Promise<void> | void;
  #at = Infinity;
  #disarm: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #isAgain = false;
  #isStopped = false;

  /** `lookAtDue` must not reject. */
  constructor(clock: Clock, lookAtDue: () => Promise<void> | void) {
    this.#clock = clock;
    this.#lookAtDue = lookAtDue;
  }

  /** Something is due at this time. */
  note(at: number): void {
    if (at >= this.#at || this.#isStopped) return;
    this.#disarm?.();
    this.#at = at;
    this.#disarm = this.#clock.setTimer(Math.max(at, this.#clock.now()), () => {
      this.#disarm = undefined;
      this.#at = Infinity;
      this.#isAgain = true;
      this.#running ??= this.#run().finally(() => (this.#running = undefined));
    });
  }

  /** Forgets the time that it waits for. */
  clear(): void {
    this.#disarm?.();
    this.#disarm = undefined;
    this.#at = Infinity;
  }

  /** Settles when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isAgain) {
      this.#isAgain = false;
      await this.#lookAtDue();
    }
  }
}
