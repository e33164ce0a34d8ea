/** When every world begins: 2026-01-01, so that times and ids look like times and ids. */
export const STARTS_AT: number = Date.UTC(2026, 0, 1);
