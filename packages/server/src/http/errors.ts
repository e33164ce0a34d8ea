/// <reference types="node" />
import { WaybillError } from "@waybill/protocol";
import type { StatusCode } from "@waybill/protocol";
import { PROBLEM_TYPE, writeProblem } from "@waybill/protocol/wire";
import type { FastifyReply } from "fastify";

/** Fastify's own refusals, as statuses of the table. */
const REFUSALS: Readonly<Record<string, readonly [StatusCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [413, "The body is over the limit of this hub."],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [400, "A body is application/json, in UTF-8."],
  FST_ERR_CTP_EMPTY_TYPE: [400, "A body is application/json: say so in Content-Type."],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, "The body is not as long as Content-Length says."],
  FST_ERR_BAD_URL: [400, "The path of the request can't be read."],
  FST_ERR_MAX_PARAM_LENGTH: [400, "A part of the path is too long."],
};

export function errorOf(thrown: unknown): WaybillError {
  if (WaybillError.is(thrown)) return thrown;
  const { code, statusCode } = thrown as { code?: string; statusCode?: number };
  const refusal = REFUSALS[code ?? ""];
  if (refusal !== undefined) return new WaybillError(...refusal, { cause: thrown });
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new WaybillError(400, "The request can't be read.", { cause: thrown });
  }
  // Internal errors belong into the log, and not into the answer.
  return new WaybillError(
    500,
    "The hub failed to do this because of an internal error. Retry; if it persists, the hub's operator finds the cause in its log.",
    {
      cause: thrown,
      retryable: true,
    },
  );
}

function headersOf({ retryAfterMs }: WaybillError): Record<string, string> {
  return {
    "content-type": PROBLEM_TYPE,
    ...(retryAfterMs === undefined
      ? {}
      : { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }),
  };
}

export function sendProblem(reply: FastifyReply, error: WaybillError): void {
  const { status, headers, body } = plainProblem(error);
  void reply.code(status).headers(headers).send(body);
}

/** An error as the client is to see it. */
export function plainProblem(error: WaybillError): {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
} {
  const problem = writeProblem(error);
  return { status: problem.status, headers: headersOf(error), body: JSON.stringify(problem) };
}

/** The error for a request that arrives too slowly. */
export function tooLate(): WaybillError {
  return new WaybillError(400, "The request did not arrive in time; send it without pauses.");
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  413: "Content Too Large",
  429: "Too Many Requests",
  503: "Service Unavailable",
};

/** The same for a connection without a reply to send it with. */
export function rawProblem(error: WaybillError): string {
  const { status, headers, body } = plainProblem(error);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `HTTP/1.1 ${status} ${REASONS[status] ?? "Error"}\r\n${lines.join("")}` +
    `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  );
}
