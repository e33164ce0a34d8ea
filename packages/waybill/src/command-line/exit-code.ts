import type { StatusCode } from "@waybill/protocol";

export interface ExitCode {
  readonly name: string;
  readonly means: string;
  /** The statuses that end a command with this exit code. */
  readonly statuses: readonly StatusCode[];
}

/** The meaning of each exit code. The README shows this table. */
export const EXIT_CODES: Readonly<Record<number, ExitCode>> = {
  0: { name: "done", means: "The command succeeded.", statuses: [100, 101, 102, 200, 201] },
  1: {
    name: "failed",
    means: "The recipient reported that the work failed.",
    statuses: [424, 500, 520],
  },
  2: {
    name: "wrong_input",
    means: "The command line, a file or the input is wrong. Nothing was done.",
    statuses: [400, 413, 422],
  },
  3: {
    name: "unreachable",
    means: "The hub, or an agent for the work, is not reachable. Try again later.",
    statuses: [300, 301, 503],
  },
  4: {
    name: "not_found",
    means: "The agent, capability or handoff was not found.",
    statuses: [404],
  },
  5: { name: "not_allowed", means: "The key or token does not permit it.", statuses: [401, 403] },
  6: {
    name: "conflict",
    means:
      "A conflict: the id is in use, the terms were refused, or the handoff has already ended.",
    statuses: [406, 409, 410],
  },
  7: {
    name: "no_verdict",
    means:
      "No result: the handoff became a dead letter and can be replayed, or its end is not known.",
    statuses: [501, 502, 504, 508],
  },
  8: {
    name: "check_failed",
    means: "A check failed: of a ledger, or one of `waybill doctor`.",
    statuses: [],
  },
  9: {
    name: "needs_answer",
    means: "The recipient asked a question, and no answer was given.",
    statuses: [103],
  },
  130: { name: "cancelled", means: "It was cancelled, for example with Ctrl-C.", statuses: [499] },
};

export const CHECK_FAILED = 8;

/** The exit code for a final status. */
export function exitCodeOf(status: StatusCode): number {
  const row = Object.entries(EXIT_CODES).find(([, { statuses }]) => statuses.includes(status));
  return row === undefined ? 1 : Number(row[0]);
}
