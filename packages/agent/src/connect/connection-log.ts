/** An event of a connection to a hub. */
export interface ConnectionLogEvent {
  /**
   * `waiting`: the hub is unreachable, and the connection is retried. `failure`: a delivery that could
   * not be handled.
   */
  readonly event: "waiting" | "failure";
  readonly url: string;
  readonly agent?: string;
  readonly error: unknown;
}

/** Receives the events of a connection. */
export type ConnectionLog = (event: ConnectionLogEvent) => void;
