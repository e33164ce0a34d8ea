import { WaybillError } from "@waybill/protocol";
import type { StatusCode } from "@waybill/protocol";

/** The messages of a line: calls and their answers, by number, and one-way news. */
export type Message =
  | { readonly call: string; readonly number: number; readonly args: readonly unknown[] }
  | { readonly number: number; readonly value?: unknown }
  | { readonly number: number; readonly error: ErrorOnLine }
  | { readonly news: unknown };

export interface ErrorOnLine {
  readonly status: StatusCode;
  readonly message: string;
  readonly at?: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
}

export function packError(thrown: unknown): ErrorOnLine {
  const { status, message, at, retryable, retryAfterMs } = WaybillError.from(thrown);
  return { status, message, at, retryable, retryAfterMs };
}

export function unpackError({ status, message, ...options }: ErrorOnLine): WaybillError {
  return new WaybillError(status, message, options);
}
