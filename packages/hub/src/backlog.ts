interface Pending {
  readonly ids: Set<string>;
  workers: number;
}

/**
 * Processes ids, a few of each owner at a time. The others wait as ids, which take little memory: a
 * promise for each would keep its request alive.
 */
export class Backlog {
  readonly #workersAtMost: number;
  readonly #work: (id: string) => Promise<void>;
  readonly #pending = new Map<string, Pending>();
  #isClosed = false;

  /** `work` must not reject. */
  constructor(workersAtMost: number, work: (id: string) => Promise<void>) {
    this.#workersAtMost = workersAtMost;
    this.#work = work;
  }

  /** Adds an id, unless it is waiting already. */
  add(owner: string, id: string): void {
    if (this.#isClosed) return;
    const pending = this.#pending.get(owner) ?? { ids: new Set(), workers: 0 };
    this.#pending.set(owner, pending);
    pending.ids.add(id);
    if (pending.workers === this.#workersAtMost) return;
    pending.workers++;
    void this.#run(owner, pending);
  }

  /** Starts nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#pending.clear();
  }

  async #run(owner: string, pending: Pending): Promise<void> {
    for (const id of pending.ids) {
      pending.ids.delete(id);
      await this.#work(id);
      if (this.#isClosed) return;
    }
    pending.workers--;
    if (pending.workers === 0) this.#pending.delete(owner);
  }
}
