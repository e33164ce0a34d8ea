import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import type { ResponseError } from "openai/resources/responses/responses";
import type { Said } from "./said.ts";

/** Members of an error of the openai client. There may be two copies of its class. */
interface ApiError extends Error {
  readonly status?: number | undefined;
  readonly error?: Json | undefined;
  readonly requestID?: string | null | undefined;
  readonly headers?: Headers | undefined;
}

/** Statuses after which the same request may well succeed. */
const PASSING = new Set([408, 409, 429, 500, 502, 503, 504]);

/** What a request to a model has thrown, with what the API said of it. */
export function modelFailure(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !("requestID" in thrown)) return thrown;
  const { status, error, requestID, headers, message, cause } = thrown as ApiError;
  const told = JSON.stringify({ status, request_id: requestID ?? undefined, error });
  const seconds = Number(headers?.get("retry-after") ?? Number.NaN);
  return new WaybillError(500, message, {
    cause: Object.assign(new Error(told, { cause }), { name: "ModelError" }),
    // Without a status nobody has answered.
    retryable: status === undefined || PASSING.has(status),
    ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {}),
  });
}

/** A turn that is none: a model that refused, or did not come to its end. */
export function assertWhole({ refusal, cutBy }: Said): void {
  if (refusal !== undefined) throw new WaybillError(500, `The model refused: ${refusal}`);
  if (cutBy === undefined) return;
  throw new WaybillError(
    500,
    `The model was cut off (${cutBy}) before it had come to an end. Give it more tokens, or less to do.`,
  );
}

/** A stream that ends before its turn does. The same request may well succeed. */
export function brokenOff(): WaybillError {
  return new WaybillError(500, "The model's host broke off in the middle of a turn.", {
    retryable: true,
  });
}

export function failedResponse(error: ResponseError | null): WaybillError {
  const { code, message } = error ?? { code: "unknown", message: "it did not say why" };
  const retryable = code === "server_error" || code === "rate_limit_exceeded";
  return new WaybillError(500, `The model's host failed (${code}): ${message}`, { retryable });
}
