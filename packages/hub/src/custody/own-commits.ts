import type { Commit, CommitOutcome, Store } from "../store.ts";

/**
 * Commits of this hub without a handoff. The store tells of every one that it has been made, and not
 * of what; those of other hubs may have changed whom this one knows, and these have not.
 */
export class OwnCommits {
  readonly #store: Pick<Store, "commit">;
  readonly #doubt: () => void;
  #failed: (cause: unknown, commit: Commit) => void = () => undefined;
  #expected = 0;

  /** `doubt`: the store can't be relied on to tell, or has told of another hub's in its place. */
  constructor(store: Pick<Store, "commit">, doubt: () => void) {
    this.#store = store;
    this.#doubt = doubt;
  }

  /** Calls the listener when the store has failed to commit. */
  onFailure(listener: (cause: unknown, commit: Commit) => void): void {
    this.#failed = listener;
  }

  async commit(commit: Commit): Promise<CommitOutcome> {
    this.#expected++;
    try {
      const outcome = await this.#store.commit(commit);
      if (outcome.type !== "committed") this.#withdraw();
      return outcome;
    } catch (error) {
      this.#withdraw();
      this.#failed(error, commit);
      throw error;
    }
  }

  #withdraw(): void {
    this.#expected = Math.max(0, this.#expected - 1);
    this.#doubt();
  }

  /** The store is listened to from now on: what was committed before it does not tell of. */
  begin(): void {
    this.#expected = 0;
  }

  /** Whether the store tells of one of these. As many are taken for it as were made. */
  isToldOf(): boolean {
    if (this.#expected === 0) return false;
    this.#expected--;
    return true;
  }
}
