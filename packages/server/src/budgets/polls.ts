import type { Budget } from "./budget.ts";

export type PollLimit = "waitSeconds" | "pollIdleMs" | "proofsPerAgent" | "proofsPerHub";

/** How long polls wait, and how many proofs are remembered. */
export const POLL_BUDGETS: Readonly<Record<PollLimit, Budget>> = {
  waitSeconds: {
    limit: 60,
    unit: "seconds",
    per: "agent",
    bounds: "how long a poll waits",
    beyond: "wait",
  },
  pollIdleMs: {
    limit: 60_000,
    unit: "milliseconds",
    per: "agent",
    bounds: "how long an agent that polls counts as connected after a poll",
    beyond: "cut",
  },
  proofsPerAgent: {
    limit: 100_000,
    unit: "items",
    per: "agent",
    bounds: "proofs that are remembered so that none is used twice",
    beyond: 301,
  },
  proofsPerHub: {
    limit: 500_000,
    unit: "items",
    per: "hub",
    bounds: "the same of all agents; whoever has used more than others is told to come again",
    beyond: 301,
  },
};
