import type { StatusCode } from "@waybill/protocol";

export interface ExitCode {
  readonly name: string;
  readonly means: string;
  /** The statuses that end a command with it. */
  readonly statuses: readonly StatusCode[];
}

/** What a script can tell from `$?`. The README shows this table. */
export const EXIT_CODES: Readonly<Record<number, ExitCode>> = {
  0: { name: "done", means: "It is done.", statuses: [100, 101, 102, 200, 201] },
  1: {
    name: "failed",
    means: "The recipient says that the work failed.",
    statuses: [424, 500, 520],
  },
  2: {
    name: "wrong_input",
    means: "The command line, a file or the input is wrong; nothing was done.",
    statuses: [400, 413, 422],
  },
  3: {
    name: "unreachable",
    means: "No hub or nobody who could do it answers just now: try again.",
    statuses: [300, 301, 503],
  },
  4: { name: "not_found", means: "There is no such thing here.", statuses: [404] },
  5: { name: "not_allowed", means: "The key or token does not allow it.", statuses: [401, 403] },
  6: {
    name: "conflict",
    means: "It contradicts what is there: an id used twice, terms refused, or an end before.",
    statuses: [406, 409, 410],
  },
  7: {
    name: "no_verdict",
    means: "It ended without its recipient's verdict: a dead letter, ready to be replayed.",
    statuses: [501, 502, 504, 508],
  },
  8: {
    name: "check_failed",
    means: "What was checked does not hold: a ledger, or something that doctor looked at.",
    statuses: [],
  },
  9: {
    name: "needs_answer",
    means: "The recipient asks something, and there was no answer to give.",
    statuses: [103],
  },
  130: { name: "cancelled", means: "It was cancelled, by Ctrl-C too.", statuses: [499] },
};

export const CHECK_FAILED = 8;

/** The exit code for how something ended. */
export function exitCodeOf(status: StatusCode): number {
  const row = Object.entries(EXIT_CODES).find(([, { statuses }]) => statuses.includes(status));
  return row === undefined ? 1 : Number(row[0]);
}
