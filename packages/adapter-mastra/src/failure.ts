import type { ErrorTable } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";

export const ERRORS: ErrorTable = { MastraTimeoutError: 504 };

/** The message of a model's host is a member of the error, and not its cause. */
export function withHostsWords(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown.cause !== undefined) return thrown;
  const { responseBody } = thrown as { responseBody?: unknown };
  if (typeof responseBody !== "string") return thrown;
  thrown.cause = Object.assign(new Error(responseBody), { name: "ModelError" });
  return thrown;
}

/** A tool's error is told to the model, unless it is meant to end the whole run. */
export function endOf(thrown: unknown): void {
  for (let each = thrown; each instanceof Error; each = each.cause)
    if (WaybillError.is(each) || each.name === "AbortError") throw thrown;
}
