import type { StatusCode } from "@waybill/protocol";

/** One bound of a served hub. */
export interface Budget {
  /** The value, unless an option sets another. */
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
   * The status of what exceeds it. `cut`: the connection is closed without one. `wait`: it continues
   * later. `drop`: the excess is discarded.
   */
  readonly beyond: StatusCode | "cut" | "drop" | "wait";
}

export const MIB: number = 1024 * 1024;
