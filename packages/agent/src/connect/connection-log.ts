/** What a connection to a hub tells its logging hook. */
export interface ConnectionLogEvent {
  /** `waiting`: out of reach, and tried again. `failure`: a delivery that could not be handled. */
  readonly event: "waiting" | "failure";
  readonly url: string;
  readonly agent?: string;
  readonly error: unknown;
}

/** Where a connection tells what happens to it. */
export type ConnectionLog = (event: ConnectionLogEvent) => void;
