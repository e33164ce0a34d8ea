import { MIB } from "./budget.ts";
import type { Budget } from "./budget.ts";

export type WorkLimit =
  | "strangerHeldBytes"
  | "heldBytesPerHub"
  | "streamsPerAgent"
  | "streamsPerHub"
  | "callBytesPerHub"
  | "largeBytesPerHub"
  | "callsPerHub"
  | "searchesPerHub"
  | "strangerCallsPerHub"
  | "turnMs";

/** What may be held and under way at the same time. */
export const WORK_BUDGETS: Readonly<Record<WorkLimit, Budget>> = {
  strangerHeldBytes: {
    limit: 32 * MIB,
    unit: "bytes",
    per: "hub",
    bounds: "what is held for strangers: unfinished bodies and messages, unread answers",
    beyond: "cut",
  },
  heldBytesPerHub: {
    limit: 32 * MIB,
    unit: "bytes",
    per: "hub",
    bounds:
      "what is held for agents: unfinished bodies and messages, unread answers and deliveries",
    beyond: "cut",
  },
  streamsPerAgent: {
    limit: 16,
    unit: "answers",
    per: "agent",
    bounds: "answers under way that are sent piece by piece: blobs, and lines",
    beyond: 301,
  },
  streamsPerHub: {
    limit: 128,
    unit: "answers",
    per: "hub",
    bounds:
      "the same of all agents; of the agent with the most, the one that is read least makes room",
    beyond: 503,
  },
  callBytesPerHub: {
    limit: 8 * MIB,
    unit: "bytes",
    per: "hub",
    bounds: "messages whose calls are under way or wait on all sockets; the heavier ones wait",
    beyond: "wait",
  },
  largeBytesPerHub: {
    limit: 2 * MIB,
    unit: "bytes",
    per: "hub",
    bounds:
      "messages and bodies of 32 KiB and more from when they are parsed to when they are answered, and one more; next is whoever has had the fewest bytes",
    beyond: "wait",
  },
  callsPerHub: {
    limit: 1_024,
    unit: "calls",
    per: "hub",
    bounds: "requests and calls under way; next is whoever has had the fewest",
    beyond: "wait",
  },
  searchesPerHub: {
    limit: 16,
    unit: "calls",
    per: "hub",
    bounds:
      "searches of agents under way, each with what it has found; they take no place of calls",
    beyond: "wait",
  },
  strangerCallsPerHub: {
    limit: 16,
    unit: "calls",
    per: "hub",
    bounds: "requests of strangers under way, each with an answer that is held until it is sent",
    beyond: "wait",
  },
  turnMs: {
    limit: 10,
    unit: "milliseconds",
    per: "hub",
    bounds: "work in one turn of the event loop; next is whoever has had the least",
    beyond: "wait",
  },
};
