import { digestOf, idTime, isId } from "@waybill/protocol";

/** One step of a framework's run, in the framework's own words. */
export interface Step {
  /** The run: a thread, a session, a kickoff. What is run anew after a crash has the same name. */
  readonly run: string;
  /** The step inside it: a task id, a tool call's id. Two calls of one step need a name each. */
  readonly step: string;
}

/**
 * The handoff id of a step: always the same, so that a step that is run again finds its own handoff.
 * The agent is part of it, because ids are one space for all agents of a hub. A run that is named by
 * an id lends its time, so that the parts of a handoff are kept near it; others have none, and say 0.
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
