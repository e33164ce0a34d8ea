/** A log event of an agent: what has happened, and to which handoff. */
export interface AgentLogEvent {
  /** What has happened. `failure` is the one that needs attention. */
  readonly event:
    | "attached"
    | "waiting"
    | "detached"
    | "offered"
    | "refused"
    | "accepted"
    | "finished"
    | "stopped"
    | "custody"
    | "ended"
    | "unclaimed"
    | "unconfirmed"
    | "failure";
  /** The agent that logs it. */
  readonly agent: string;
  readonly handoffId?: string;
  readonly attempt?: number;
  readonly status?: number;
  readonly error?: unknown;
}

/**
 * Receives the log events of an agent. It is called synchronously, and must not throw.
 *
 * @example
 * ```ts
 * const log: Log = ({ event, ...details }) => logger.debug(details, event);
 * ```
 */
export type Log = (event: AgentLogEvent) => void;
