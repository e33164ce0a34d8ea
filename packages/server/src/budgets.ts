import { HUB_LIMITS } from "@waybill/hub";
import type { HubLimits } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { SCHEMA_LIMITS } from "@waybill/protocol/hub";
import type { StatusCode, WaybillErrorOptions } from "@waybill/protocol";

/** What strangers and agents may ask of a served hub. `BUDGETS` says what each of them bounds. */
export interface ServedLimits {
  connectionsPerAddress: number;
  strangersPerAddress: number;
  connectionsPerAgent: number;
  connectionsPerHub: number;
  strangersPerHub: number;
  silentMs: number;
  idleMs: number;
  unreadMs: number;
  unreadBytes: number;
  requestsAtOnce: number;
  condemnedMs: number;
  headerBytes: number;
  framesPerMessage: number;
  fragmentsPerMessage: number;
  itemsPerTurn: number;
  framesOfStranger: number;
  callsOfStranger: number;
  framesAfterFailure: number;
  bytesAfterFailure: number;
  queuedBytes: number;
  callBytesAtOnce: number;
  bytesPerAddress: number;
  burstBytesPerAddress: number;
  requestsPerFailure: number;
  manifestBytesPerAddress: number;
  manifestBurstPerAddress: number;
  manifestBytesPerHub: number;
  manifestBurstPerHub: number;
  attachmentsPerAgent: number;
  attachmentBurstPerAgent: number;
  bytesPerAgent: number;
  burstBytesPerAgent: number;
  uploadBytesPerAgent: number;
  uploadBytesPerAddress: number;
  uploadBytesPerHub: number;
  uploadBytesAtLeast: number;
  downloadBytesPerAgent: number;
  downloadBytesPerHub: number;
  uploadsPerHub: number;
  uploadWindowMs: number;
  uploadWindowBytes: number;
  strangerRequestsPerHub: number;
  strangerBurstPerHub: number;
  strangerBytesPerHub: number;
  strangerBurstBytesPerHub: number;
  strangerHeldBytes: number;
  heldBytesPerHub: number;
  streamsPerAgent: number;
  streamsPerHub: number;
  callBytesPerHub: number;
  callsPerHub: number;
  searchesPerHub: number;
  strangerCallsPerHub: number;
  turnMs: number;
  helloMs: number;
  headersMs: number;
  requestMs: number;
  requestsPerAddress: number;
  burstPerAddress: number;
  callsPerAgent: number;
  burstPerAgent: number;
  callsAtOnce: number;
  unsentBytes: number;
  slowBytes: number;
  pingMs: number;
  waitSeconds: number;
  pollIdleMs: number;
  proofsPerAgent: number;
  proofsPerHub: number;
  webhookMs: number;
  webhookWaitMs: number;
  webhookMostWaitMs: number;
  strangeInboxMostWaitMs: number;
  probesPerAgent: number;
  probeBurstPerAgent: number;
  probesPerHost: number;
  probeBurstPerHost: number;
  probesPerHub: number;
  probeBurstPerHub: number;
  webhooksAtOnce: number;
  readinessGraceMs: number;
  closeMs: number;
}

/** The names of the bounds that are enforced at the door. */
export type DoorName = keyof ServedLimits;

/** The names of all bounds of a served hub: of whoever asks, of a message, and of a check by schemas. */
export type BudgetName = DoorName | keyof HubLimits | keyof typeof SCHEMA_LIMITS;

/** One bound of a served hub. */
export interface Budget {
  /** Where no option says otherwise. */
  readonly limit: number;
  readonly unit:
    | "answers"
    | "attachments"
    | "attachments a minute"
    | "bytes"
    | "bytes a second"
    | "calls"
    | "calls a second"
    | "characters"
    | "connections"
    | "deltas a second"
    | "handoffs"
    | "items"
    | "levels"
    | "milliseconds"
    | "probes"
    | "probes a minute"
    | "requests"
    | "requests a second"
    | "seconds"
    | "steps"
    | "uploads";
  /** What each has a budget of its own. */
  readonly per:
    | "connection"
    | "address"
    | "agent"
    | "host"
    | "hub"
    | "message"
    | "handoff"
    | "schema"
    | "check"
    | "query"
    | "blob";
  readonly bounds: string;
  /**
   * The status beyond it; `cut` where the connection ends without one, `wait` where it goes on later,
   * `drop` where the rest goes nowhere.
   */
  readonly beyond: StatusCode | "cut" | "drop" | "wait";
}

const MIB = 1024 * 1024;

/** What is enforced at the door, and counted there. */
const AT_THE_DOOR: Readonly<Record<DoorName, Budget>> = {
  silentMs: {
    limit: 10_000,
    unit: "milliseconds",
    per: "connection",
    bounds: "the time until a connection has made its first request, TLS included",
    beyond: "cut",
  },
  idleMs: {
    limit: 15_000,
    unit: "milliseconds",
    per: "connection",
    bounds: "the time between two requests on one connection",
    beyond: "cut",
  },
  unreadMs: {
    limit: 30_000,
    unit: "milliseconds",
    per: "connection",
    bounds: "the time in which enough of what waits to be read must be read",
    beyond: "cut",
  },
  unreadBytes: {
    limit: 32 * 1024,
    unit: "bytes",
    per: "connection",
    bounds: "what must be read in that time, where so much waits",
    beyond: "cut",
  },
  requestsAtOnce: {
    limit: 4,
    unit: "requests",
    per: "connection",
    bounds: "requests sent before the answer to the first one was read (pipelining)",
    beyond: "cut",
  },
  condemnedMs: {
    limit: 5_000,
    unit: "milliseconds",
    per: "connection",
    bounds: "how long a connection that has broken a bound is left, unread, before it is cut",
    beyond: "cut",
  },
  headerBytes: {
    limit: 16 * 1024,
    unit: "bytes",
    per: "connection",
    bounds: "the headers of one request",
    beyond: 413,
  },
  framesPerMessage: {
    limit: 1_024,
    unit: "items",
    per: "connection",
    bounds: "frames in one message on a socket",
    beyond: 413,
  },
  fragmentsPerMessage: {
    limit: 1_024,
    unit: "items",
    per: "connection",
    bounds: "fragments of one message on a socket",
    beyond: "cut",
  },
  itemsPerTurn: {
    limit: 32,
    unit: "items",
    per: "connection",
    bounds: "frames of one message, and items of one report, before it is somebody else's turn",
    beyond: "wait",
  },
  framesOfStranger: {
    limit: 64,
    unit: "items",
    per: "connection",
    bounds: "frames on a socket that has not said who it is",
    beyond: 401,
  },
  callsOfStranger: {
    limit: 16,
    unit: "calls",
    per: "connection",
    bounds: "manifests that a socket may publish before it has said who it is",
    beyond: 401,
  },
  framesAfterFailure: {
    limit: 64,
    unit: "items",
    per: "connection",
    bounds: "frames that are read, and paid for, on a socket that is being closed for a failure",
    beyond: "wait",
  },
  bytesAfterFailure: {
    limit: 16 * 1024,
    unit: "bytes",
    per: "connection",
    bounds: "bytes that are read, and paid for, on a socket that is being closed for a failure",
    beyond: "wait",
  },
  queuedBytes: {
    limit: 256 * 1024,
    unit: "bytes",
    per: "connection",
    bounds: "messages that wait for their turn on a socket; it is not read any further meanwhile",
    beyond: "wait",
  },
  callBytesAtOnce: {
    limit: 8 * MIB,
    unit: "bytes",
    per: "connection",
    bounds: "messages whose calls are under way or wait on one socket; it is not read meanwhile",
    beyond: "wait",
  },
  helloMs: {
    limit: 10_000,
    unit: "milliseconds",
    per: "connection",
    bounds: "the time a socket may take to say who it is",
    beyond: 401,
  },
  headersMs: {
    limit: 10_000,
    unit: "milliseconds",
    per: "connection",
    bounds: "the time the headers of a request may take",
    beyond: 400,
  },
  requestMs: {
    limit: 30_000,
    unit: "milliseconds",
    per: "connection",
    bounds: "the time a request may take to come in, its body included",
    beyond: 400,
  },
  callsAtOnce: {
    limit: 256,
    unit: "calls",
    per: "connection",
    bounds: "calls under way on one socket; it is not read any further meanwhile",
    beyond: "wait",
  },
  unsentBytes: {
    limit: 16 * MIB,
    unit: "bytes",
    per: "connection",
    bounds: "what may wait for an agent to read it",
    beyond: 413,
  },
  slowBytes: {
    limit: 4 * MIB,
    unit: "bytes",
    per: "connection",
    bounds: "what may wait on a socket before its agent is offered nothing more",
    beyond: "wait",
  },
  pingMs: {
    limit: 15_000,
    unit: "milliseconds",
    per: "connection",
    bounds:
      "silence after which a sign of life is asked for; after twice as long the socket is dead",
    beyond: 503,
  },
  connectionsPerAddress: {
    limit: 4_096,
    unit: "connections",
    per: "address",
    bounds: "connections from one address",
    beyond: "cut",
  },
  strangersPerAddress: {
    limit: 512,
    unit: "connections",
    per: "address",
    bounds:
      "connections on which nobody has proven who it is; the one that waits longest makes room",
    beyond: "cut",
  },
  strangersPerHub: {
    limit: 1_024,
    unit: "connections",
    per: "hub",
    bounds: "connections on which nobody has proven who it is, of all addresses together",
    beyond: "cut",
  },
  connectionsPerAgent: {
    limit: 16,
    unit: "connections",
    per: "agent",
    bounds: "connections on which an agent has proven who it is",
    beyond: "cut",
  },
  connectionsPerHub: {
    limit: 8_192,
    unit: "connections",
    per: "hub",
    bounds: "connections of all kinds",
    beyond: "cut",
  },
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
      "the same of all agents; of the agent with the most, the one that is not read makes room",
    beyond: 503,
  },
  callBytesPerHub: {
    limit: 8 * MIB,
    unit: "bytes",
    per: "hub",
    bounds: "messages whose calls are under way or wait on all sockets; the heavier ones wait",
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

/** What the protocol, the hub and the checks of schemas bound, wherever a message comes from. */
const OF_WHAT_IS_SAID: Readonly<Record<keyof HubLimits | keyof typeof SCHEMA_LIMITS, Budget>> = {
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
    bounds: "the time for which a blob is kept that no envelope names",
    beyond: 403,
  },
  blobKeptMs: {
    limit: HUB_LIMITS.blobKeptMs,
    unit: "milliseconds",
    per: "blob",
    bounds: "the time for which a blob is kept after the end of the last handoff that names it",
    beyond: 403,
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

/**
 * Every bound that a served hub sets to those who ask it, in one place. Everything else reads this:
 * the options, what is enforced, and /metrics.
 */
export const BUDGETS: Readonly<Record<BudgetName, Budget>> = { ...AT_THE_DOOR, ...OF_WHAT_IS_SAID };

/** Those that are enforced, and counted, at the door. */
export const DOOR_NAMES: readonly DoorName[] = Object.keys(AT_THE_DOOR) as DoorName[];

/** The limits of a served hub where no option says otherwise. */
export const SERVED_LIMITS: Readonly<ServedLimits> = Object.fromEntries(
  DOOR_NAMES.map((name) => [name, BUDGETS[name].limit]),
) as Record<DoorName, number>;

/** The limits of one served hub, and how often each of them was reached. */
export class Budgets {
  readonly limits: Readonly<ServedLimits>;
  readonly #hits = new Map<DoorName, number>();

  constructor(limits: Partial<ServedLimits> = {}) {
    this.limits = { ...SERVED_LIMITS, ...limits };
  }

  hit(name: DoorName): void {
    this.#hits.set(name, this.hitsOf(name) + 1);
  }

  /** The error for what is over a budget; it counts as a hit. */
  refuse(name: DoorName, message: string, options?: WaybillErrorOptions): WaybillError {
    this.hit(name);
    const { beyond } = BUDGETS[name];
    return new WaybillError(typeof beyond === "number" ? beyond : 503, message, options);
  }

  hitsOf(name: DoorName): number {
    return this.#hits.get(name) ?? 0;
  }
}
