import type { Commit, CommitOutcome, Store } from "./store.ts";

/** A store whose commits can be held back. */
export class SlowCommits {
  readonly store: Store;
  #released = Promise.resolve();
  #release = (): void => undefined;

  constructor(store: Store) {
    this.store = new Proxy(store, {
      get: (target, name) => {
        if (name === "commit") return (group: readonly Commit[]) => this.#commit(target, group);
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  }

  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#released, this.#release] = [promise, resolve];
  }

  release(): void {
    this.#release();
  }

  async #commit(target: Store, group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    await this.#released;
    return target.commit(group);
  }
}
