// What a store needs in a thread of its own, without slow imports.
export { chainText } from "./ledger/chain-text.ts";
export { faultOfCommit, isOrphaned, stagedView } from "./memory-store/commit.ts";
export type { CommitView } from "./memory-store/commit.ts";
