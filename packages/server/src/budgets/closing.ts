import type { Budget } from "./budget.ts";

export type ClosingLimit = "readinessGraceMs" | "closeMs";

/** How long a hub takes to go down. */
export const CLOSING_BUDGETS: Readonly<Record<ClosingLimit, Budget>> = {
  readinessGraceMs: {
    limit: 0,
    unit: "milliseconds",
    per: "hub",
    bounds: "how long a hub that goes down says so at /readyz before it sends anybody away",
    beyond: 503,
  },
  closeMs: {
    limit: 5_000,
    unit: "milliseconds",
    per: "hub",
    bounds: "how long what is under way may take when the hub goes down",
    beyond: "cut",
  },
};
