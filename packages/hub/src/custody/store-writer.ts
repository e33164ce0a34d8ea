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

  /**
   * Never rejects: where the store fails, the outcomes are unknown. The answer is passed on in as few
   * steps as possible: whoever hears of the commit from the store meanwhile, and asks the hub, would
   * get the record before it.
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
