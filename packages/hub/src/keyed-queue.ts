import { InFlight } from "@waybill/protocol/wire";

/** Runs one task at a time for each key, in order of arrival. */
export class KeyedQueue {
  readonly #tails = new InFlight<string, Promise<unknown>>();

  run<Value>(key: string, task: () => Promise<Value>): Promise<Value> {
    const before = this.#tails.get(key);
    const done = before === undefined ? task() : before.then(task, task);
    this.#tails.set(key, done);
    const leave = () => {
      if (this.#tails.get(key) === done) this.#tails.delete(key);
    };
    done.then(leave, leave);
    return done;
  }

  /** Settles when no task is left. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.allSettled(this.#tails.values());
  }
}
