import { WaybillError } from "@waybill/protocol";
import type { StatusCode } from "@waybill/protocol";
import { ChangedRow } from "./checksum.ts";

interface Failure {
  readonly status: StatusCode;
  readonly isRetryable: boolean;
  readonly message: (path: string) => string;
}

const READ_ONLY: Failure = {
  status: 503,
  isRetryable: false,
  message: (path) =>
    `The store ${path} can't be written to: the file, its folder or its volume is read-only for this user. Give the hub's user the right to write to both, then start again.`,
};

const DAMAGED: Failure = {
  status: 500,
  isRetryable: false,
  message: (path) =>
    `The store ${path} is damaged: SQLite found a page that does not fit the others. Nothing more is written to it. Stop the hub, keep the file for examination, and put the last backup in its place.`,
};

/** The message for people, by SQLite's primary result code. */
const FAILURES: Readonly<Record<number, Failure>> = {
  5: {
    status: 503,
    isRetryable: true,
    message: (path) =>
      `The store ${path} is locked: another program writes to it. A hub's file has one owner; end the other program, then try again.`,
  },
  8: READ_ONLY,
  10: {
    status: 503,
    isRetryable: false,
    message: (path) =>
      `The disk under the store ${path} failed while reading or writing. Nothing was half written. Check the disk, then start again.`,
  },
  11: DAMAGED,
  13: {
    status: 503,
    isRetryable: true,
    message: (path) =>
      `The disk under the store ${path} is full. The commit was not made and nothing else was lost. Free some space, then try again.`,
  },
  14: {
    status: 503,
    isRetryable: false,
    message: (path) =>
      `The store ${path} can't be opened: its folder is missing, or this user may not write there. Make the folder, or name another path.`,
  },
  26: {
    status: 500,
    isRetryable: false,
    message: (path) =>
      `The file ${path} is not a store: it is no SQLite database. Name another path; nothing was changed.`,
  },
};

/** SQLite's message about a missing table or column that every store has. */
const SCHEMA_FAULT = /no such (table|column)|has no column/;

/** Converts an error of SQLite to one that says what to do about it. */
export function failureOf(error: unknown, path: string): WaybillError {
  if (WaybillError.is(error)) return error;
  if (error instanceof ChangedRow) return damaged(path, error.message, error);
  const code = (error as { errcode?: unknown } | null)?.errcode;
  const failure = typeof code === "number" ? FAILURES[code & 0xff] : undefined;
  if (failure !== undefined) {
    const { status, isRetryable, message } = failure;
    return new WaybillError(status, message(path), { cause: error, retryable: isRetryable });
  }
  const { message } = WaybillError.from(error);
  if (SCHEMA_FAULT.test(message)) return damaged(path, message, error);
  return new WaybillError(500, `The store ${path} failed: ${message}.`, { cause: error });
}

export function damaged(path: string, what: string, cause?: unknown): WaybillError {
  return new WaybillError(
    500,
    `The store ${path} is damaged: ${what}. Keep the file for analysis, and restore the last backup.`,
    { cause },
  );
}
