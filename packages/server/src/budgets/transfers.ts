import { MIB } from "./budget.ts";
import type { Budget } from "./budget.ts";

export type TransferLimit =
  | "uploadBytesPerAgent"
  | "uploadBytesPerAddress"
  | "uploadBytesPerHub"
  | "uploadBytesAtLeast"
  | "downloadBytesPerAgent"
  | "downloadBytesPerHub"
  | "historyBytesPerHub"
  | "uploadsPerHub"
  | "uploadWindowMs"
  | "uploadWindowBytes";

/** How fast blobs and long answers may come and go. */
export const TRANSFER_BUDGETS: Readonly<Record<TransferLimit, Budget>> = {
  uploadBytesPerAgent: {
    limit: 64 * MIB,
    unit: "bytes a second",
    per: "agent",
    bounds: "the bytes of blobs that it uploads, all uploads together",
    beyond: "wait",
  },
  uploadBytesPerAddress: {
    limit: 128 * MIB,
    unit: "bytes a second",
    per: "address",
    bounds: "the same of all agents at one address",
    beyond: "wait",
  },
  uploadBytesPerHub: {
    limit: 256 * MIB,
    unit: "bytes a second",
    per: "hub",
    bounds: "the same of all agents: each byte is hashed",
    beyond: "wait",
  },
  uploadBytesAtLeast: {
    limit: 256 * 1024,
    unit: "bytes",
    per: "blob",
    bounds: "what an upload counts for in these rates, however few bytes it has",
    beyond: "wait",
  },
  downloadBytesPerAgent: {
    limit: 64 * MIB,
    unit: "bytes a second",
    per: "agent",
    bounds: "answers that are sent piece by piece to one agent, all of them together",
    beyond: "wait",
  },
  downloadBytesPerHub: {
    limit: 128 * MIB,
    unit: "bytes a second",
    per: "hub",
    bounds: "the same of all agents",
    beyond: "wait",
  },
  historyBytesPerHub: {
    limit: 32 * MIB,
    unit: "bytes a second",
    per: "hub",
    bounds:
      "the entries that are read for histories of agents, as texts that are garbage afterwards",
    beyond: "wait",
  },
  uploadsPerHub: {
    limit: 256,
    unit: "uploads",
    per: "hub",
    bounds:
      "uploads that are being received; of the agent with the most, the slowest one makes room",
    beyond: 503,
  },
  uploadWindowMs: {
    limit: 30_000,
    unit: "milliseconds",
    per: "connection",
    bounds: "the time in which enough of an upload must arrive; what has arrived is kept",
    beyond: "cut",
  },
  uploadWindowBytes: {
    limit: 32 * 1024,
    unit: "bytes",
    per: "connection",
    bounds: "what must arrive of an upload in that time",
    beyond: "cut",
  },
};
