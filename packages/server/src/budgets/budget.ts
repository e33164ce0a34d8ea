import type { StatusCode } from "@waybill/protocol";

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

export const MIB: number = 1024 * 1024;
