/** The start of every world: 2026-01-01, so that times and ids look real. */
export const STARTS_AT: number = Date.UTC(2026, 0, 1);
