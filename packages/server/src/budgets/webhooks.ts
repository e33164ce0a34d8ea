import type { Budget } from "./budget.ts";

export type WebhookLimit =
  | "webhookMs"
  | "webhookWaitMs"
  | "webhookMostWaitMs"
  | "strangeInboxMostWaitMs"
  | "probesPerAgent"
  | "probeBurstPerAgent"
  | "probesPerHost"
  | "probeBurstPerHost"
  | "probesPerHub"
  | "probeBurstPerHub"
  | "webhooksAtOnce";

/** How often and how long inboxes of agents are called. */
export const WEBHOOK_BUDGETS: Readonly<Record<WebhookLimit, Budget>> = {
  webhookMs: {
    limit: 10_000,
    unit: "milliseconds",
    per: "agent",
    bounds: "the time an inbox may take to answer",
    beyond: 503,
  },
  webhookWaitMs: {
    limit: 1_000,
    unit: "milliseconds",
    per: "agent",
    bounds: "how long an inbox is left alone when it fails, twice as long each time",
    beyond: "wait",
  },
  webhookMostWaitMs: {
    limit: 60_000,
    unit: "milliseconds",
    per: "agent",
    bounds: "how long an inbox that fails is left alone at the most",
    beyond: "wait",
  },
  strangeInboxMostWaitMs: {
    limit: 3_600_000,
    unit: "milliseconds",
    per: "agent",
    bounds: "the same for an inbox that has never echoed a challenge",
    beyond: "wait",
  },
  probesPerAgent: {
    limit: 2,
    unit: "probes a minute",
    per: "agent",
    bounds: "pushes with a challenge that its inboxes have not echoed",
    beyond: "wait",
  },
  probeBurstPerAgent: {
    limit: 4,
    unit: "probes",
    per: "agent",
    bounds: "the same at once, after a pause",
    beyond: "wait",
  },
  probesPerHost: {
    limit: 6,
    unit: "probes a minute",
    per: "host",
    bounds: "pushes with a challenge that a host has not echoed, by its name and by its address",
    beyond: "wait",
  },
  probeBurstPerHost: {
    limit: 8,
    unit: "probes",
    per: "host",
    bounds: "the same at once, after a pause",
    beyond: "wait",
  },
  probesPerHub: {
    limit: 60,
    unit: "probes a minute",
    per: "hub",
    bounds: "pushes with a challenge that nobody has echoed, to all hosts together",
    beyond: "wait",
  },
  probeBurstPerHub: {
    limit: 120,
    unit: "probes",
    per: "hub",
    bounds: "the same at once, after a pause",
    beyond: "wait",
  },
  webhooksAtOnce: {
    limit: 64,
    unit: "connections",
    per: "hub",
    bounds: "pushes to inboxes under way",
    beyond: "wait",
  },
};
