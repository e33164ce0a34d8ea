/** What an agent tells its log: what has happened, and about which handoff. */
export interface AgentLogEvent {
  /** What has happened. `failure` is the one that somebody should look at. */
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
  /** The agent that tells it. */
  readonly agent: string;
  readonly handoffId?: string;
  readonly attempt?: number;
  readonly status?: number;
  readonly error?: unknown;
}

/**
 * Where an agent tells what happens. It is called in the middle of the work, and must not throw.
 *
 * @example
 * ```ts
 * const log: Log = ({ event, ...details }) => logger.debug(details, event);
 * ```
 */
export type Log = (event: AgentLogEvent) => void;
