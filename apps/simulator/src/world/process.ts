import type { Clock } from "@waybill/hub";
import { idSource, newSalt } from "@waybill/protocol";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

/** The clock of one machine: inaccurate, and set at times. */
export interface WallClock {
  offsetMs: number;
}

/**
 * One run of a program. After a crash nothing from it reaches the world any more, and nothing from
 * the world reaches it; what it still has in memory may go on running.
 */
export class Process {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly newSalt: () => string;
  readonly #scheduler: Scheduler;
  #isAlive = true;

  constructor(scheduler: Scheduler, wall: WallClock, random: Random) {
    this.#scheduler = scheduler;
    const now = () => Math.floor(scheduler.now + wall.offsetMs);
    // Like a real timer it waits for a span: setting the clock does not shorten it.
    this.clock = { now, setTimer: (at, run) => this.after(at - now(), run) };
    const ids = idSource({ now, randomBytes: (length) => random.bytes(length) });
    this.newId = () => ids();
    this.newSalt = () => newSalt((length) => random.bytes(length));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  crash(): void {
    this.#isAlive = false;
  }

  after(ms: number, run: () => void): () => void {
    return this.#scheduler.after(ms, () => {
      if (this.#isAlive) run();
    });
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }
}
