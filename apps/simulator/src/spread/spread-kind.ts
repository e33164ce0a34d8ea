/**
 * How work for one capability is spread: over three `equal` workers, over two of which one is ten times
 * slower (`slow`), or over two of which one crashes with its hands full and is back at once (`restarted`).
 */
export type Spread = "equal" | "slow" | "restarted";
