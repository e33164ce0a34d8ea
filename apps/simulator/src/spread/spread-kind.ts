/**
 * How work for one capability is distributed: over three `equal` workers, over two of which one is
 * ten times slower (`slow`), or over two of which one crashes with a full load and is back at once
 * (`restarted`).
 */
export type Spread = "equal" | "slow" | "restarted";
