import { MIB } from "./budget.ts";
import type { Budget } from "./budget.ts";

export type ConnectionLimit =
  | "silentMs"
  | "idleMs"
  | "unreadMs"
  | "unreadBytes"
  | "requestsAtOnce"
  | "condemnedMs"
  | "headerBytes"
  | "framesPerMessage"
  | "fragmentsPerMessage"
  | "itemsPerTurn"
  | "framesOfStranger"
  | "callsOfStranger"
  | "framesAfterFailure"
  | "bytesAfterFailure"
  | "queuedBytes"
  | "callBytesAtOnce"
  | "helloMs"
  | "headersMs"
  | "requestMs"
  | "callsAtOnce"
  | "unsentBytes"
  | "slowBytes"
  | "pingMs"
  | "connectionsPerAddress"
  | "strangersPerAddress"
  | "strangersPerHub"
  | "connectionsPerAgent"
  | "connectionsPerHub";

/** How many connections there may be, how fast each must be, and how much it may send ahead. */
export const CONNECTION_BUDGETS: Readonly<Record<ConnectionLimit, Budget>> = {
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
};
