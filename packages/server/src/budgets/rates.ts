import { MIB } from "./budget.ts";
import type { Budget } from "./budget.ts";

export type RateLimit =
  | "requestsPerAddress"
  | "burstPerAddress"
  | "bytesPerAddress"
  | "burstBytesPerAddress"
  | "requestsPerFailure"
  | "manifestBytesPerAddress"
  | "manifestBurstPerAddress"
  | "manifestBytesPerHub"
  | "manifestBurstPerHub"
  | "attachmentsPerAgent"
  | "attachmentBurstPerAgent"
  | "strangerRequestsPerHub"
  | "strangerBurstPerHub"
  | "strangerBytesPerHub"
  | "strangerBurstBytesPerHub"
  | "bytesPerAgent"
  | "burstBytesPerAgent"
  | "callsPerAgent"
  | "burstPerAgent";

/** How much may be asked in a second or a minute. */
export const RATE_BUDGETS: Readonly<Record<RateLimit, Budget>> = {
  requestsPerAddress: {
    limit: 2_000,
    unit: "requests a second",
    per: "address",
    bounds: "requests from one address",
    beyond: 301,
  },
  burstPerAddress: {
    limit: 4_000,
    unit: "requests",
    per: "address",
    bounds: "requests from one address at once, after a pause",
    beyond: 301,
  },
  bytesPerAddress: {
    limit: 4 * MIB,
    unit: "bytes a second",
    per: "address",
    bounds: "bodies and messages of strangers from one address",
    beyond: 301,
  },
  burstBytesPerAddress: {
    limit: 32 * MIB,
    unit: "bytes",
    per: "address",
    bounds: "bodies and messages of strangers from one address at once, after a pause",
    beyond: 301,
  },
  requestsPerFailure: {
    limit: 20,
    unit: "requests",
    per: "address",
    bounds: "what a signature that does not hold costs: so many requests or frames",
    beyond: "wait",
  },
  manifestBytesPerAddress: {
    limit: MIB,
    unit: "bytes a second",
    per: "address",
    bounds: "manifests published from one address: each is parsed, compiled and stored",
    beyond: 301,
  },
  manifestBurstPerAddress: {
    limit: 8 * MIB,
    unit: "bytes",
    per: "address",
    bounds: "manifests published from one address at once, after a pause",
    beyond: 301,
  },
  manifestBytesPerHub: {
    limit: 4 * MIB,
    unit: "bytes a second",
    per: "hub",
    bounds: "manifests published from all addresses together",
    beyond: 301,
  },
  manifestBurstPerHub: {
    limit: 16 * MIB,
    unit: "bytes",
    per: "hub",
    bounds: "manifests published from all addresses at once, after a pause",
    beyond: 301,
  },
  attachmentsPerAgent: {
    limit: 60,
    unit: "attachments a minute",
    per: "agent",
    bounds: "times that an agent attaches, each of which brings it everything that is in its inbox",
    beyond: 301,
  },
  attachmentBurstPerAgent: {
    limit: 30,
    unit: "attachments",
    per: "agent",
    bounds: "times that an agent attaches in a row, after a pause",
    beyond: 301,
  },
  strangerRequestsPerHub: {
    limit: 4_000,
    unit: "requests a second",
    per: "hub",
    bounds: "requests of strangers from all addresses together",
    beyond: 301,
  },
  strangerBurstPerHub: {
    limit: 8_000,
    unit: "requests",
    per: "hub",
    bounds: "requests of strangers from all addresses at once, after a pause",
    beyond: 301,
  },
  strangerBytesPerHub: {
    limit: 8 * MIB,
    unit: "bytes a second",
    per: "hub",
    bounds: "bodies and messages of strangers from all addresses together",
    beyond: 301,
  },
  strangerBurstBytesPerHub: {
    limit: 64 * MIB,
    unit: "bytes",
    per: "hub",
    bounds: "bodies and messages of strangers from all addresses at once, after a pause",
    beyond: 301,
  },
  bytesPerAgent: {
    limit: 32 * MIB,
    unit: "bytes a second",
    per: "agent",
    bounds: "bodies of its signed requests, and messages on its socket",
    beyond: 301,
  },
  burstBytesPerAgent: {
    limit: 128 * MIB,
    unit: "bytes",
    per: "agent",
    bounds: "bodies and messages of one agent at once, after a pause",
    beyond: 301,
  },
  callsPerAgent: {
    limit: 50_000,
    unit: "calls a second",
    per: "agent",
    bounds: "signed requests, frames on its socket, and items of what it reports to its inbox",
    beyond: 301,
  },
  burstPerAgent: {
    limit: 100_000,
    unit: "calls",
    per: "agent",
    bounds: "signed requests, frames and items at once, after a pause",
    beyond: 301,
  },
};
