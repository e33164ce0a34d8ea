/** What an agent tells its logging hook. */
export interface AgentLogEvent {
  readonly event:
    | "attached"
    | "detached"
    | "offered"
    | "refused"
    | "accepted"
    | "finished"
    | "stopped"
    | "custody"
    | "ended"
    | "unclaimed"
    | "failure";
  readonly agent: string;
  readonly handoffId?: string;
  readonly attempt?: number;
  readonly status?: number;
  readonly error?: unknown;
}

export type Log = (event: AgentLogEvent) => void;
