/** Every limit of the protocol. A message beyond one is answered with a status, never with a crash. */
export interface Limits {
  /** Bytes of one envelope on the wire. */
  envelopeBytes: number;
  /** Nesting of objects and arrays in a payload. */
  jsonDepth: number;
  artifacts: number;
  /** The allowed difference between the clocks of two parties. */
  clockSkewMs: number;
  /** How far ahead a deadline may be. */
  deadlineAheadMs: number;
  /** The length of the chain of parents. */
  hops: number;
  /** Children of one handoff, and members of one group. */
  fanOut: number;
  /** Bytes of the state that a paused attempt may save. */
  pausedStateBytes: number;
  /** Rows in each list of a usage. */
  usageRows: number;
  /** Handoffs that one receipt may list beside its own. */
  alsoListed: number;
  /** Members of one object and nodes of one schema. */
  schemaNodes: number;
  schemaDepth: number;
}

/** The default limits of the protocol. */
export const LIMITS: Readonly<Limits> = {
  envelopeBytes: 1024 * 1024,
  jsonDepth: 64,
  artifacts: 256,
  clockSkewMs: 60_000,
  deadlineAheadMs: 366 * 24 * 60 * 60 * 1000,
  hops: 16,
  fanOut: 256,
  pausedStateBytes: 256 * 1024,
  usageRows: 64,
  alsoListed: 64,
  schemaNodes: 10_000,
  schemaDepth: 32,
};
