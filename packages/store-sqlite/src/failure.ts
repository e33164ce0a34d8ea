import { WaybillError } from "@waybill/protocol";
import type { StatusCode } from "@waybill/protocol";
import { ChangedRow } from "./checksum.ts";
import { BrokenChain } from "./database.ts";
import { MissingEntry } from "./entries.ts";
import { DamagedLog, FullLog } from "./log/log.ts";

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

const FAILED: Failure = {
  status: 503,
  isRetryable: false,
  message: (path) =>
    `The disk under the store ${path} failed while reading or writing. Nothing was half written. Check the disk, then start again.`,
};

const FULL: Failure = {
  status: 503,
  isRetryable: true,
  message: (path) =>
    `The disk under the store ${path} is full. The commit was not made and nothing else was lost. Free some space, then try again.`,
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
  10: FAILED,
  11: DAMAGED,
  13: FULL,
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

/** The same, by the system's code for a file of the log. */
const SYSTEM_FAILURES: Readonly<Record<string, Failure>> = {
  EACCES: READ_ONLY,
  EDQUOT: FULL,
  EIO: FAILED,
  ENOSPC: FULL,
  EPERM: READ_ONLY,
  EROFS: READ_ONLY,
};

/** What only damage explains. */
const DAMAGES = [ChangedRow, BrokenChain, DamagedLog, MissingEntry];

/** SQLite's message about a missing table or column that every store has. */
const SCHEMA_FAULT = /no such (table|column)|has no column/;

/** Converts an error of SQLite to one that says what to do about it. */
export function failureOf(error: unknown, path: string): WaybillError {
  if (WaybillError.is(error)) return error;
  if (DAMAGES.some((kind) => error instanceof kind)) {
    return damaged(path, (error as Error).message, error);
  }
  if (error instanceof FullLog) return failureOfKind(FULL, path, error);
  const { errcode, code = "" } = (error ?? {}) as { errcode?: unknown; code?: string };
  const failure = typeof errcode === "number" ? FAILURES[errcode & 0xff] : SYSTEM_FAILURES[code];
  if (failure !== undefined) return failureOfKind(failure, path, error);
  const { message } = WaybillError.from(error);
  if (SCHEMA_FAULT.test(message)) return damaged(path, message, error);
  return new WaybillError(500, `The store ${path} failed: ${message}.`, { cause: error });
}

function failureOfKind(failure: Failure, path: string, cause: unknown): WaybillError {
  const { status, isRetryable, message } = failure;
  return new WaybillError(status, message(path), { cause, retryable: isRetryable });
}

export function damaged(path: string, what: string, cause?: unknown): WaybillError {
  return new WaybillError(
    500,
    `The store ${path} is damaged: ${what}. Keep the file for analysis, and restore the last backup.`,
    { cause },
  );
}
