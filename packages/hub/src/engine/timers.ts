import type { Clock } from "@waybill/protocol/wire";
import { DeadlineTimer } from "../deadline-timer.ts";
import type { Store, StoredHandoff } from "../store.ts";

/**
 * How many due handoffs are processed at a time. They end together, and everything else waits
 * meanwhile.
 */
const PAGE = 20;
/** After a failure the same handoff is due again at once, so the store gets time to recover. */
const PAUSE_AFTER_FAILURE_MS = 1_000;

/** Processes handoffs when they are due. It holds one timer; all times are in the store. */
export class Timers {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #wake: (stored: StoredHandoff) => Promise<void>;
  readonly #failed: (error: unknown) => void;
  readonly #timer: DeadlineTimer;
  /** Until then nothing is tried again after a failure. */
  #pausedUntil = -Infinity;
  #isStopped = false;

  constructor(
    store: Store,
    clock: Clock,
    wake: (stored: StoredHandoff) => Promise<void>,
    failed: (error: unknown) => void,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#wake = wake;
    this.#failed = failed;
    this.#timer = new DeadlineTimer(clock, () => this.#run());
  }

  /** A handoff is due at this time. */
  note(wakeAt: number | null): void {
    if (wakeAt !== null) this.#timer.note(Math.max(wakeAt, this.#pausedUntil));
  }

  async start(): Promise<void> {
    this.note(await this.#store.nextWakeAt());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#timer.stop();
  }

  async #run(): Promise<void> {
    let isSound = true;
    try {
      for (let isMore = true; isMore && isSound && !this.#isStopped;) {
        const due = await this.#store.due(this.#clock.now(), PAGE);
        const woken = await Promise.allSettled(due.map((stored) => this.#wake(stored)));
        for (const each of woken) {
          if (each.status === "fulfilled") continue;
          isSound = false;
          this.#pause();
          this.#failed(each.reason);
        }
        isMore = due.length > 0;
      }
      this.note(await this.#store.nextWakeAt());
    } catch (error) {
      this.#pause();
      this.#failed(error);
      this.note(this.#pausedUntil);
    }
  }

  #pause(): void {
    this.#pausedUntil = this.#clock.now() + PAUSE_AFTER_FAILURE_MS;
  }
}
