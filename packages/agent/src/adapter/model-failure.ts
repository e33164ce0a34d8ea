import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";

/**
 * Members of an error of the openai client. They are compared by shape, because there may be two
 * copies of its class.
 */
interface ApiError extends Error {
  readonly status?: number | undefined;
  readonly error?: Json | undefined;
  readonly requestID?: string | null | undefined;
  readonly headers?: { get(name: string): string | null } | undefined;
}

/** Statuses after which the same request may succeed. */
const PASSING = new Set([408, 409, 429, 500, 502, 503, 504]);

/**
 * Converts a failed request of the `openai` client, with the provider's answer as the cause. Any other
 * error comes back unchanged.
 */
export function modelFailure(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !("requestID" in thrown)) return thrown;
  const { status, error, requestID, headers, message, cause } = thrown as ApiError;
  const told = JSON.stringify({ status, request_id: requestID ?? undefined, error });
  const seconds = Number(headers?.get("retry-after") ?? Number.NaN);
  return new WaybillError(500, message, {
    cause: Object.assign(new Error(told, { cause }), { name: "ModelError" }),
    // Without a status there was no answer.
    retryable: status === undefined || PASSING.has(status),
    ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {}),
  });
}
