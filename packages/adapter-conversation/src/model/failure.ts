import { WaybillError } from "@waybill/protocol";
import type { ResponseError } from "openai/resources/responses/responses";
import type { Said } from "./said.ts";

/** Throws if the model refused, or did not finish. */
export function assertWhole({ refusal, cutBy }: Said): void {
  if (refusal !== undefined) throw new WaybillError(500, `The model refused: ${refusal}`);
  if (cutBy === undefined) return;
  throw new WaybillError(
    500,
    `The model was cut off (${cutBy}) before it finished. Give it more tokens, or less to do.`,
  );
}

/** The error for a stream that ends before its turn does. The same request may well succeed. */
export function brokenOff(): WaybillError {
  return new WaybillError(500, "The model provider ended the stream in the middle of a turn.", {
    retryable: true,
  });
}

export function failedResponse(error: ResponseError | null): WaybillError {
  const { code, message } = error ?? { code: "unknown", message: "it did not say why" };
  const retryable = code === "server_error" || code === "rate_limit_exceeded";
  return new WaybillError(500, `The model provider failed (${code}): ${message}`, { retryable });
}
