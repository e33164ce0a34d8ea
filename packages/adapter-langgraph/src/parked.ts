import type { HandoffResult, QuestionEvent } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import type { Json, StatusCode } from "@waybill/protocol";
import { jsonOf } from "./message-out.ts";

/** What a parked step waits for, in the value of its interrupt. */
export interface Parked {
  readonly waybill: "parked";
  readonly handoff_id: string;
  /** The graph's answers so far, for whoever wakes it to pass on. */
  readonly answers: Readonly<Record<string, Json>>;
}

/**
 * The value with which a parked step is resumed. A failure is written out, because checkpoints hold no
 * errors.
 */
export type Outcome =
  | { readonly result: HandoffResult }
  | { readonly question: QuestionEvent }
  | { readonly failure: Failure };

interface Failure {
  readonly status: StatusCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly cause?: Json;
}

export function parkedOn(handoffId: string, answers: Parked["answers"]): Parked {
  return { waybill: "parked", handoff_id: handoffId, answers };
}

export function isParked(value: unknown): value is Parked {
  return typeof value === "object" && value !== null && (value as Parked).waybill === "parked";
}

export function failureOutcome({ status, message, retryable, cause }: WaybillError): Outcome {
  const known = cause === undefined ? {} : { cause: jsonOf(cause) };
  return { failure: { status, message, retryable, ...known } };
}

export function failureIn({ failure }: { readonly failure: Failure }): WaybillError {
  const { status, message, retryable, cause } = failure;
  return new WaybillError(status, message, { retryable, cause });
}
