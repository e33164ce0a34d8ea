import { commitEach, commitOne } from "./commit-each.ts";
import { memoryStore } from "./memory-store.ts";
import type { Commit, CommitOutcome, Store } from "./store.ts";

/** Decides about a commit, which `make` makes. */
export type Through = (
  commit: Commit,
  make: () => Promise<CommitOutcome>,
) => Promise<CommitOutcome>;

/** A store in memory of which each commit is made, refused or delayed by a test. */
export function interceptedStore(through: Through): Store {
  const store = memoryStore();
  const inner = { commit: store.commit.bind(store) };
  store.commit = (group) =>
    commitEach(group, (each) => through(each, () => commitOne(inner, each)));
  return store;
}
