import type { ErrorTable } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";

export const ERRORS: ErrorTable = { MastraTimeoutError: 504 };

/** What a model's host has said of an error is a member of it, and no cause. */
export function withHostsWords(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown.cause !== undefined) return thrown;
  const { responseBody } = thrown as { responseBody?: unknown };
  if (typeof responseBody !== "string") return thrown;
  thrown.cause = Object.assign(new Error(responseBody), { name: "ModelError" });
  return thrown;
}

/** A tool's error is told to the model, unless whoever has thrown it means the whole run. */
export function endOf(thrown: unknown): void {
  for (let each = thrown; each instanceof Error; each = each.cause)
    if (WaybillError.is(each) || each.name === "AbortError") throw thrown;
}
