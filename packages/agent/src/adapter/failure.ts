import { WaybillError } from "@waybill/protocol";
import type { StatusCode } from "@waybill/protocol";

/**
 * Statuses for a framework's own errors, by `error.name`. Two copies of a package have different
 * classes for the same error, so the class does not count.
 */
export type ErrorTable = Readonly<Record<string, StatusCode>>;

const COMMON: ErrorTable = { AbortError: 499, TimeoutError: 504 };

/** HTTP statuses after which the same request may succeed. */
const PASSING = new Set<unknown>([408, 425, 429, 500, 502, 503, 504]);

const CAUSES_DEEP = 8;

const failuresOfParts = new WeakSet<object>();

/** Marks the failure of a child handoff. */
export function asFailureOfPart(error: WaybillError): WaybillError {
  failuresOfParts.add(error);
  return error;
}

/**
 * Converts an error of a framework's run to a WaybillError. A run that was told to stop reports the
 * reason for that; a failed child is a 424, whatever its own status; an error that `table` lists by
 * name has the status there; anything else is a 500.
 *
 * @example
 * ```ts
 * throw failureFrom(error, { table: { RateLimitError: 503 }, signal });
 * ```
 */
export function failureFrom(
  thrown: unknown,
  { table = {}, signal }: { readonly table?: ErrorTable; readonly signal?: AbortSignal } = {},
): WaybillError {
  if (signal?.aborted === true && WaybillError.is(signal.reason)) return signal.reason;
  const chain = causesOf(thrown);
  const part = chain.find((each) => failuresOfParts.has(each));
  if (part !== undefined && WaybillError.is(part)) {
    const { status, message, retryable, retryAfterMs } = part;
    return new WaybillError(424, `A part of the work ended with ${status}: ${message}`, {
      cause: thrown,
      retryable,
      retryAfterMs,
    });
  }
  const own = chain.find((each): each is WaybillError => WaybillError.is(each));
  if (own !== undefined) return own;
  const statuses = { ...COMMON, ...table };
  const named = chain.find(({ name }) => Object.hasOwn(statuses, name));
  if (named !== undefined) {
    return new WaybillError(statuses[named.name]!, messageOf(thrown), { cause: thrown });
  }
  // An HTTP status describes a request that the run made, not the handoff.
  const retryable = chain.some((each) => PASSING.has((each as { status?: unknown }).status));
  return new WaybillError(500, messageOf(thrown), { cause: thrown, retryable });
}

/**
 * Throws an error of a tool that is meant to end the whole run. A framework tells the model of any
 * other.
 */
export function endOfRun(thrown: unknown): void {
  if (causesOf(thrown).some((each) => WaybillError.is(each) || each.name === "AbortError"))
    throw thrown;
}

function causesOf(thrown: unknown): Error[] {
  const chain: Error[] = [];
  for (let each = thrown; each instanceof Error && chain.length < CAUSES_DEEP; each = each.cause)
    chain.push(each);
  return chain;
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return typeof thrown === "string" && thrown !== "" ? thrown : "an unknown error was thrown";
}
