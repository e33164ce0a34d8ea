import type { InputIssue, InputRefusal } from "../discovery/input-refusal.ts";
import { WaybillError } from "../error.ts";
import { parseJson } from "../json/json.ts";
import { isStatusCode, STATUS } from "../status.ts";
import type { StatusCode } from "../status.ts";

/** An error on the wire: RFC 9457 problem details, with the status of the table beside HTTP's own. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  readonly detail: string;
  readonly waybill_status: StatusCode;
  readonly code: string;
  readonly at?: string | undefined;
  readonly retryable: boolean;
  readonly retry_after_ms?: number | undefined;
  /** Why each agent that offers the capability refuses the input. */
  readonly refusals?: readonly InputRefusal[] | undefined;
  /** For an upload that does not continue where it ended: how many bytes have arrived. */
  readonly received?: number | undefined;
  readonly remedy: string;
}

/** The media type of errors over HTTP (RFC 9457). */
export const PROBLEM_TYPE = "application/problem+json";

/** The HTTP status for each status. Intermediate statuses and successes are no errors: 500. */
export const HTTP_STATUS: Readonly<Record<StatusCode, number>> = {
  100: 500,
  101: 500,
  102: 500,
  103: 500,
  200: 500,
  201: 500,
  300: 503,
  301: 429,
  400: 400,
  401: 401,
  403: 403,
  404: 404,
  406: 406,
  409: 409,
  410: 410,
  413: 413,
  422: 422,
  424: 424,
  // HTTP has no status for a request that its own client has cancelled.
  499: 409,
  500: 500,
  // To HTTP, 501 and 508 are permanent faults of the server.
  501: 502,
  502: 502,
  503: 503,
  504: 504,
  508: 500,
  520: 502,
};

/** An error as the body of an HTTP response (RFC 9457). */
export function writeProblem(error: WaybillError): Problem {
  const { status, code, message, at, retryable, retryAfterMs, refusals, received, remedy } = error;
  return {
    type: `urn:waybill:status:${status}`,
    title: STATUS[status].meaning,
    status: HTTP_STATUS[status],
    detail: message,
    waybill_status: status,
    code,
    at,
    retryable,
    retry_after_ms: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs),
    refusals,
    received,
    remedy,
  };
}

/** The error that a problem describes. For responses that are no problem of ours use `errorOfResponse`. */
export function readProblem(value: unknown): WaybillError {
  const members = (value ?? {}) as Record<string, unknown>;
  const { waybill_status, detail, at, retryable, retry_after_ms, received } = members;
  if (!isStatusCode(waybill_status) || typeof detail !== "string") {
    throw new WaybillError(
      400,
      "This is not a hub's problem document: it lacks waybill_status or detail.",
    );
  }
  const refusals = refusalsIn(members["refusals"]);
  return new WaybillError(waybill_status, detail, {
    at: typeof at === "string" ? at : undefined,
    retryable: typeof retryable === "boolean" ? retryable : undefined,
    ...(Number.isSafeInteger(retry_after_ms) ? { retryAfterMs: retry_after_ms as number } : {}),
    ...(refusals.length === 0 ? {} : { refusals }),
    ...(Number.isSafeInteger(received) ? { received: received as number } : {}),
  });
}

/** Their writers are not trusted: whatever is no valid refusal is ignored. */
function refusalsIn(value: unknown): readonly InputRefusal[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    const { agent_id, capability, version, issues } = (each ?? {}) as Record<string, unknown>;
    const names = [agent_id, capability, version];
    const isWhole = names.every((name) => typeof name === "string") && Array.isArray(issues);
    return isWhole && issues.every(isIssue) ? [each as InputRefusal] : [];
  });
}

function isIssue(value: unknown): value is InputIssue {
  const { at, message } = (value ?? {}) as Record<string, unknown>;
  return typeof at === "string" && typeof message === "string";
}

/** Answers of intermediaries: overloaded gateways, and proxies that know no hub. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** The error of an unsuccessful response, whichever server on the way has written it. */
export function errorOfResponse(httpStatus: number, body: string): WaybillError {
  try {
    return readProblem(parseJson(body));
  } catch (cause) {
    const status = PASSING.has(httpStatus) ? 503 : isStatusCode(httpStatus) ? httpStatus : 500;
    return new WaybillError(
      status,
      `The answer is HTTP ${httpStatus} without a hub's problem document: it may not come from a hub. Check the address, and any proxy in between.`,
      { cause },
    );
  }
}
