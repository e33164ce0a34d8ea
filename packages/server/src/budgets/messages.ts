import { HUB_LIMITS } from "@waybill/hub";
import type { HubLimits } from "@waybill/hub";
import { SCHEMA_LIMITS } from "@waybill/protocol/hub";
import type { Budget } from "./budget.ts";
import type { BlobLimit } from "./blobs.ts";

export type MessageLimit = Exclude<keyof HubLimits, BlobLimit> | keyof typeof SCHEMA_LIMITS;

/** What the protocol, the hub and the checks of schemas bound, wherever a message comes from. */
export const MESSAGE_BUDGETS: Readonly<Record<MessageLimit, Budget>> = {
  envelopeBytes: {
    limit: HUB_LIMITS.envelopeBytes,
    unit: "bytes",
    per: "message",
    bounds: "one envelope or manifest on the wire",
    beyond: 413,
  },
  jsonDepth: {
    limit: HUB_LIMITS.jsonDepth,
    unit: "levels",
    per: "message",
    bounds: "objects and arrays within one another",
    beyond: 413,
  },
  artifacts: {
    limit: HUB_LIMITS.artifacts,
    unit: "items",
    per: "message",
    bounds: "artifacts of one envelope",
    beyond: 413,
  },
  clockSkewMs: {
    limit: HUB_LIMITS.clockSkewMs,
    unit: "milliseconds",
    per: "message",
    bounds: "how far the clock of its sender may be ahead, and for how long a proof is valid",
    beyond: 401,
  },
  deadlineAheadMs: {
    limit: HUB_LIMITS.deadlineAheadMs,
    unit: "milliseconds",
    per: "handoff",
    bounds: "the time from its issue to its deadline",
    beyond: 401,
  },
  hops: {
    limit: HUB_LIMITS.hops,
    unit: "levels",
    per: "handoff",
    bounds: "the chain of its parents",
    beyond: 413,
  },
  fanOut: {
    limit: HUB_LIMITS.fanOut,
    unit: "handoffs",
    per: "handoff",
    bounds: "its children, the members of a group, and the questions of an attempt",
    beyond: 413,
  },
  pausedStateBytes: {
    limit: HUB_LIMITS.pausedStateBytes,
    unit: "bytes",
    per: "handoff",
    bounds: "the state that a paused attempt leaves behind",
    beyond: 413,
  },
  usageRows: {
    limit: HUB_LIMITS.usageRows,
    unit: "items",
    per: "message",
    bounds: "the rows in each list of a usage",
    beyond: 413,
  },
  alsoListed: {
    limit: HUB_LIMITS.alsoListed,
    unit: "handoffs",
    per: "message",
    bounds: "what one receipt lists beside its own handoff",
    beyond: 413,
  },
  schemaNodes: {
    limit: HUB_LIMITS.schemaNodes,
    unit: "items",
    per: "schema",
    bounds: "schemas in one document, and members of any one object in it",
    beyond: 413,
  },
  schemaDepth: {
    limit: HUB_LIMITS.schemaDepth,
    unit: "levels",
    per: "schema",
    bounds: "schemas within one another",
    beyond: 413,
  },
  checkSteps: {
    limit: SCHEMA_LIMITS.checkSteps,
    unit: "steps",
    per: "check",
    bounds: "one check of a value against one schema, verdict and reasons together",
    beyond: 413,
  },
  checkIssues: {
    limit: SCHEMA_LIMITS.checkIssues,
    unit: "items",
    per: "check",
    bounds: "what is found wrong with a value before its check stops",
    beyond: 422,
  },
  querySteps: {
    limit: SCHEMA_LIMITS.querySteps,
    unit: "steps",
    per: "query",
    bounds: "all checks of one query or submission together",
    beyond: 413,
  },
  answerCharacters: {
    limit: HUB_LIMITS.answerCharacters,
    unit: "characters",
    per: "handoff",
    bounds: "the answers to all of its questions, which go along with each offer",
    beyond: 413,
  },
  openHandoffs: {
    limit: HUB_LIMITS.openHandoffs,
    unit: "handoffs",
    per: "agent",
    bounds: "handoffs that a delegator has open at the same time",
    beyond: 301,
  },
  deltasPerSecond: {
    limit: HUB_LIMITS.deltasPerSecond,
    unit: "deltas a second",
    per: "handoff",
    bounds: "deltas that are passed on, each of at most 4,096 characters",
    beyond: "drop",
  },
  unseenCharacters: {
    limit: HUB_LIMITS.unseenCharacters,
    unit: "characters",
    per: "hub",
    bounds: "deliveries that no agent has said to have arrived; who holds the most is let go",
    beyond: 413,
  },
};
