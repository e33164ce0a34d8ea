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

/** Members of an error of a provider of the AI SDK, compared by shape too. */
interface ProviderError extends Error {
  readonly isRetryable: boolean;
  readonly statusCode?: number | undefined;
  readonly responseBody?: string | undefined;
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
}

/**
 * Converts a failed request of the `openai` client or of a provider of the AI SDK, with the provider's
 * answer as the cause. Any other error comes back unchanged.
 */
export function modelFailure(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { message, cause } = thrown;
  if ("requestID" in thrown) {
    const { status, error, requestID, headers } = thrown as ApiError;
    return failureOfModel(message, {
      told: JSON.stringify({ status, request_id: requestID ?? undefined, error }),
      cause,
      // Without a status there was no answer.
      retryable: status === undefined || PASSING.has(status),
      retryAfter: headers?.get("retry-after"),
    });
  }
  // The AI SDK repeats a request, and puts the last error into one of its own.
  const { lastError: last = thrown } = thrown as { lastError?: unknown };
  if (!(last instanceof Error) || !("isRetryable" in last)) return thrown;
  const { statusCode, responseBody, responseHeaders, isRetryable } = last as ProviderError;
  return failureOfModel(message, {
    told: responseBody ?? JSON.stringify({ status: statusCode, error: last.message }),
    cause: last.cause,
    retryable: isRetryable,
    retryAfter: responseHeaders?.["retry-after"],
  });
}

interface Answered {
  readonly told: string;
  readonly cause: unknown;
  readonly retryable: boolean;
  readonly retryAfter: string | null | undefined;
}

function failureOfModel(message: string, answered: Answered): WaybillError {
  const { told, cause, retryable, retryAfter } = answered;
  const seconds = Number(retryAfter ?? Number.NaN);
  return new WaybillError(500, message, {
    cause: Object.assign(new Error(told, { cause }), { name: "ModelError" }),
    retryable,
    ...(Number.isFinite(seconds) ? { retryAfterMs: seconds * 1000 } : {}),
  });
}
