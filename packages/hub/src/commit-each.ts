import { isOrphaned } from "./memory-store/commit.ts";
import type { Commit, CommitOutcome, KnownOutcome, Store } from "./store.ts";

/** Makes one commit by itself. Rejects if its outcome is unknown. */
export async function commitOne(
  store: Pick<Store, "commit">,
  commit: Commit,
): Promise<KnownOutcome> {
  const [outcome] = await store.commit([commit]);
  if (outcome!.type === "unknown") throw outcome!.error;
  return outcome as KnownOutcome;
}

/**
 * The outcomes of a group whose commits are made one after the other, for a store that does not write
 * them together. Where `commit` rejects, that outcome alone is unknown.
 */
export async function commitEach(
  group: readonly Commit[],
  commit: (commit: Commit) => Promise<CommitOutcome>,
): Promise<readonly CommitOutcome[]> {
  const outcomes: CommitOutcome[] = [];
  for (const each of group) {
    const { dependsOn, ...alone } = each;
    outcomes.push(
      isOrphaned(each, outcomes)
        ? { type: "conflict" }
        : await commit(dependsOn === undefined ? each : alone).catch((error: unknown) => ({
            type: "unknown",
            error,
          })),
    );
  }
  return outcomes;
}
