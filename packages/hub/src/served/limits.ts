/** What strangers and agents may ask of a served hub. */
export interface ServedLimits {
  /** Connections from one address. */
  connectionsPerAddress: number;
  /** Of those, sockets that have not said who they are. */
  strangersPerAddress: number;
  /** How long a socket may take to say who it is. */
  helloMs: number;
  /** How long the headers of a request may take, and the request as a whole. */
  headersMs: number;
  requestMs: number;
  /** Requests a second from one address, and how many more at once. */
  requestsPerAddress: number;
  burstPerAddress: number;
  /** Signed requests, calls and frames a second from one agent, and how many more at once. */
  callsPerAgent: number;
  burstPerAgent: number;
  /** Calls under way on one socket; it is not read any further meanwhile. */
  callsAtOnce: number;
  /** Bytes that may wait for an agent to read them. */
  unsentBytes: number;
  /** Of those, on a socket: beyond, it is offered nothing more until it has read. */
  slowBytes: number;
  /** A line on which nothing else is said is asked for a sign of life. */
  pingMs: number;
  /** The longest that a poll waits, and how long an agent that polls counts as connected after it. */
  waitSeconds: number;
  pollIdleMs: number;
  /** Proofs of one agent that are remembered so that none is used twice. */
  proofsPerAgent: number;
  /** How long an inbox may take to answer; how long it is left alone once it fails, and at the most. */
  webhookMs: number;
  webhookWaitMs: number;
  webhookMostWaitMs: number;
  /** How long a hub that goes down says so at /readyz before it sends anybody away. */
  readinessGraceMs: number;
  /** How long what is under way may take when the hub goes down. */
  closeMs: number;
}

export const SERVED_LIMITS: Readonly<ServedLimits> = {
  connectionsPerAddress: 4_096,
  strangersPerAddress: 512,
  helloMs: 10_000,
  headersMs: 10_000,
  requestMs: 30_000,
  requestsPerAddress: 2_000,
  burstPerAddress: 4_000,
  callsPerAgent: 50_000,
  burstPerAgent: 100_000,
  callsAtOnce: 1_024,
  unsentBytes: 64 * 1024 * 1024,
  slowBytes: 4 * 1024 * 1024,
  pingMs: 15_000,
  waitSeconds: 60,
  pollIdleMs: 60_000,
  proofsPerAgent: 100_000,
  webhookMs: 10_000,
  webhookWaitMs: 1_000,
  webhookMostWaitMs: 60_000,
  readinessGraceMs: 0,
  closeMs: 5_000,
};

/** What a request holds around its envelope. */
export const BODY_BYTES_BESIDE_ENVELOPE: number = 4 * 1024;
