import type { InputRefusal } from "./discovery/input-refusal.ts";
import { isStatusCode, STATUS } from "./status.ts";
import type { StatusCode, StatusName } from "./status.ts";

/** What a `WaybillError` has besides its status and message. */
export interface WaybillErrorOptions {
  cause?: unknown;
  /** The place of the fault in the message, as a JSON Pointer. */
  at?: string | undefined;
  /** Whether a retry may succeed; by default the status decides. */
  retryable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  /** Which agents that offer the capability refuse the input, and why. */
  refusals?: readonly InputRefusal[] | undefined;
  /** For an upload that does not continue where it ended: how many bytes have arrived. */
  received?: number | undefined;
}

// Two copies of this package may be loaded side by side (ESM and bundled, two versions), so the brand
// is a registered symbol and never a class identity.
const BRAND: unique symbol = Symbol.for("waybill.error") as never;

/** The one error of this project. `status` is its code, `message` says what happened and why. */
export class WaybillError extends Error {
  readonly status: StatusCode;
  readonly code: StatusName;
  readonly at: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** For a 422 before custody: why each agent that offers the capability refuses the input. */
  readonly refusals: readonly InputRefusal[] | undefined;
  /** For a 409 to an upload: how many bytes have arrived. */
  readonly received: number | undefined;

  constructor(status: StatusCode, message: string, options: WaybillErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "WaybillError";
    this.status = status;
    this.code = STATUS[status].name;
    this.at = options.at;
    this.retryable = options.retryable ?? RETRYABLE.has(STATUS[status].retry);
    this.retryAfterMs = options.retryAfterMs;
    this.refusals = options.refusals;
    this.received = options.received;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** What to do about it, from the table of statuses. */
  get remedy(): string {
    return STATUS[this.status].remedy;
  }

  /** Where this status is explained: a heading in the specification that ships with this package. */
  get docs(): string {
    return `@waybill/spec/status.md#${this.status}`;
  }

  toJSON(): Record<string, unknown> {
    const { status, code, message, at, retryable, refusals, received, remedy, docs } = this;
    const retry_after_ms = this.retryAfterMs;
    return {
      status,
      code,
      message,
      at,
      refusals,
      received,
      retryable,
      retry_after_ms,
      remedy,
      docs,
    };
  }

  /** True for a WaybillError of any copy of this package, with this status if one is given. */
  static is(value: unknown, status?: StatusCode): value is WaybillError {
    return (
      value instanceof Error &&
      (value as { [BRAND]?: unknown })[BRAND] === true &&
      (status === undefined || (value as WaybillError).status === status)
    );
  }

  /** Converts anything thrown to a WaybillError, with the thrown value as its cause. */
  static from(value: unknown, fallback: StatusCode = 500): WaybillError {
    if (WaybillError.is(value)) return value;
    if (value instanceof Error) {
      const status = (value as { status?: unknown }).status;
      return new WaybillError(
        isStatusCode(status) ? status : fallback,
        value.message || value.name,
        {
          cause: value,
        },
      );
    }
    return new WaybillError(
      fallback,
      typeof value === "string" ? value : "an unknown error was thrown",
      {
        cause: value,
      },
    );
  }
}

const RETRYABLE = new Set<string>(["yes", "later", "possible", "once"]);
