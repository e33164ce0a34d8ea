import type { WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import { modelFailure } from "./model-failure.ts";

/** An error as a provider of the AI SDK throws it. */
function providerError(statusCode: number | undefined, more: object = {}): Error {
  const isRetryable = statusCode === undefined || statusCode === 429;
  const name = "AI_APICallError";
  return Object.assign(new Error("It failed."), { name, statusCode, isRetryable, ...more });
}

test("a provider of the AI SDK that is busy is a failure to retry, when it says so", () => {
  const answer = { responseBody: '{"error":"busy"}', responseHeaders: { "retry-after": "7" } };
  const busy = modelFailure(providerError(429, answer)) as WaybillError;
  expect(busy).toMatchObject({ status: 500, retryable: true, retryAfterMs: 7_000 });
  expect(busy.cause).toMatchObject({ name: "ModelError", message: '{"error":"busy"}' });
  expect(modelFailure(providerError(400))).toMatchObject({ status: 500, retryable: false });
});

test("the last of several attempts of the AI SDK decides", () => {
  const lastError = providerError(undefined, { message: "Nobody listens." });
  const gaveUp = Object.assign(new Error("Failed after 3 attempts."), { lastError });
  const failure = modelFailure(gaveUp) as WaybillError;
  expect(failure).toMatchObject({ message: "Failed after 3 attempts.", retryable: true });
  expect(failure.cause).toMatchObject({ message: expect.stringContaining("Nobody listens.") });
});

test("any other error comes back as it is", () => {
  const other = new Error("no");
  expect(modelFailure(other)).toBe(other);
  expect(modelFailure("no")).toBe("no");
});
