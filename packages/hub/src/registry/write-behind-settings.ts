import type { Clock } from "@waybill/protocol/wire";
import { DeadlineTimer } from "../deadline-timer.ts";
import type { Store } from "../store.ts";

const SAVE_AFTER_MS = 1_000;

/**
 * Settings that are written with a delay. A crash loses the newest values; a commit for each would
 * cost as much as custody.
 */
export class WriteBehindSettings {
  readonly #store: Pick<Store, "saveSetting">;
  readonly #clock: Clock;
  readonly #timer: DeadlineTimer;
  readonly #unsaved = new Map<string, string>();

  constructor(store: Pick<Store, "saveSetting">, clock: Clock, failed: (cause: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    // What can't be saved now is saved when it changes next; no promise is at stake.
    this.#timer = new DeadlineTimer(clock, () => this.save().catch(failed));
  }

  set(name: string, value: string): void {
    this.#unsaved.set(name, value);
    this.#timer.note(this.#clock.now() + SAVE_AFTER_MS);
  }

  async save(): Promise<void> {
    this.#timer.clear();
    const unsaved = [...this.#unsaved];
    this.#unsaved.clear();
    for (const [name, value] of unsaved) await this.#store.saveSetting(name, value);
  }
}
