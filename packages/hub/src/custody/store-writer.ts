import type { Commit, CommitOutcome, Store } from "../store.ts";
import type { StoreHealth } from "./store-health.ts";

/** Writes to the store, and reports what fails, so that the hub knows whether it is ready. */
export class StoreWriter {
  readonly #store: Pick<Store, "commit">;
  readonly #health: StoreHealth;

  constructor(store: Pick<Store, "commit">, health: StoreHealth) {
    this.#store = store;
    this.#health = health;
  }

  /** Never rejects: where the store fails, the outcomes are unknown. */
  async commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    const outcomes = await this.#store
      .commit(group)
      .catch((error: unknown) => group.map((): CommitOutcome => ({ type: "unknown", error })));
    outcomes.forEach((outcome, index) => {
      if (outcome.type === "unknown") this.#health.failed(outcome.error, group[index]);
    });
    return outcomes;
  }
}
