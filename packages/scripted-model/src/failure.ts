import type { ApiFailure } from "./turn.ts";

interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** The API's own error body for each status, unless a script gives one. */
const USUAL: Readonly<Record<number, Omit<ErrorBody, "param">>> = {
  400: { message: "Invalid request.", type: "invalid_request_error", code: null },
  401: {
    message: "You didn't provide an API key.",
    type: "invalid_request_error",
    code: "invalid_api_key",
  },
  404: {
    message: "The model does not exist or you do not have access to it.",
    type: "invalid_request_error",
    code: "model_not_found",
  },
  429: { message: "Rate limit reached.", type: "requests", code: "rate_limit_exceeded" },
  500: {
    message: "The server had an error while processing your request.",
    type: "server_error",
    code: null,
  },
};

export function errorBodyOf({ status, error = {} }: ApiFailure): ErrorBody {
  const usual = USUAL[status] ?? USUAL[status < 500 ? 400 : 500]!;
  return { param: null, ...usual, ...error };
}

/** An exception in a script counts as a failure of the model. */
export function failureOf(thrown: unknown): ApiFailure {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { status: 500, error: { message } };
}
