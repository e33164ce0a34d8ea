import type { Commit, CommitOutcome, Store } from "../store.ts";
import type { StoreHealth } from "./store-health.ts";

/**
 * Writes to the store with which the hub was opened (`openSqliteStore`, `memoryStore`), and reports
 * what fails, so that the hub knows whether it is ready.
 */
export class StoreWriter {
  readonly #store: Pick<Store, "commit">;
  readonly #health: StoreHealth;

  constructor(store: Pick<Store, "commit">, health: StoreHealth) {
    this.#store = store;
    this.#health = health;
  }

  /**
   * Never rejects: where the store fails, the outcomes are unknown. Await nothing more between the
   * store's answer and the hub's records: a listener of the store that asks the hub meanwhile would
   * get the record from before the commit.
   */
  commit(group: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    return this.#store.commit(group).then(
      (outcomes) => this.#noted(group, outcomes),
      (error: unknown) =>
        this.#noted(
          group,
          group.map(() => ({ type: "unknown", error })),
        ),
    );
  }

  #noted(group: readonly Commit[], outcomes: readonly CommitOutcome[]): readonly CommitOutcome[] {
    outcomes.forEach((outcome, index) => {
      if (outcome.type === "unknown") this.#health.failed(outcome.error, group[index]);
    });
    return outcomes;
  }
}
