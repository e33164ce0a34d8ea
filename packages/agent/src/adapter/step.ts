import { digestOf, idTime, isId } from "@waybill/protocol";

/** One step of a framework's run, in the framework's own terms. */
export interface Step {
  /** The run: a thread, a session, a kickoff. A run that is repeated after a crash has the same name. */
  readonly run: string;
  /** The step inside the run: a task id, a tool call's id. Two calls in one step need different names. */
  readonly step: string;
}

/**
 * The handoff id of a step. It is deterministic, so that a repeated step finds its own handoff. The
 * agent is part of it, because all agents of a hub share one space of ids. A run that is named by a
 * UUIDv7 passes on its timestamp, so that children are stored near their parent; for any other run the
 * timestamp is 0.
 */
export function handoffIdOf(agent: string, { run, step }: Step): string {
  const hex = digestOf(JSON.stringify(["waybill step", agent, run, step])).slice("sha256:".length);
  const time = (isId(run) ? idTime(run) : 0).toString(16).padStart(12, "0");
  const variant = (0b1000 | (Number.parseInt(hex[3]!, 16) & 0b0011)).toString(16);
  return [
    time.slice(0, 8),
    time.slice(8),
    `7${hex.slice(0, 3)}`,
    `${variant}${hex.slice(4, 7)}`,
    hex.slice(7, 19),
  ].join("-");
}
