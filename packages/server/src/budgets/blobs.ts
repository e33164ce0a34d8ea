import { HUB_LIMITS } from "@waybill/hub";
import type { HubLimits } from "@waybill/hub";
import type { Budget } from "./budget.ts";

export type BlobLimit = Extract<keyof HubLimits, `blob${string}`>;

/** What the hub keeps of blobs, wherever they come from. */
export const BLOB_BUDGETS: Readonly<Record<BlobLimit, Budget>> = {
  blobBytes: {
    limit: HUB_LIMITS.blobBytes,
    unit: "bytes",
    per: "blob",
    bounds: "the size of a blob",
    beyond: 413,
  },
  blobUploads: {
    limit: HUB_LIMITS.blobUploads,
    unit: "uploads",
    per: "agent",
    bounds: "blobs of which an agent has uploaded a part",
    beyond: 301,
  },
  blobUploadsPerHub: {
    limit: HUB_LIMITS.blobUploadsPerHub,
    unit: "uploads",
    per: "hub",
    bounds: "the same of all agents; of those that do not go on, the one that has sent least goes",
    beyond: 503,
  },
  blobBytesPerAgent: {
    limit: HUB_LIMITS.blobBytesPerAgent,
    unit: "bytes",
    per: "agent",
    bounds:
      "blobs that an agent has uploaded or uploads, at their full size, at least 65,536 bytes each",
    beyond: 301,
  },
  blobBytesPerHub: {
    limit: HUB_LIMITS.blobBytesPerHub,
    unit: "bytes",
    per: "hub",
    bounds: "all blobs, and what has arrived of uploads",
    beyond: 503,
  },
  blobIdleMs: {
    limit: HUB_LIMITS.blobIdleMs,
    unit: "milliseconds",
    per: "blob",
    bounds: "the time for which an upload is kept that does not go on",
    beyond: 403,
  },
  blobUnclaimedMs: {
    limit: HUB_LIMITS.blobUnclaimedMs,
    unit: "milliseconds",
    per: "blob",
    bounds: "the time for which a blob is kept that no envelope names; less where the hub is full",
    beyond: 403,
  },
  blobKeptMs: {
    limit: HUB_LIMITS.blobKeptMs,
    unit: "milliseconds",
    per: "blob",
    bounds: "the time for which a blob is kept after the end of the last handoff that names it",
    beyond: 403,
  },
};
