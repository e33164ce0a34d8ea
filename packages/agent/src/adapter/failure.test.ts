import { WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import { asFailureOfPart, failureFrom } from "./failure.ts";

const named = (name: string, message: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { name });

test("a framework's error keeps its message and becomes the cause", () => {
  const thrown = named("GraphRecursionError", "Recursion limit of 25 reached");
  const error = failureFrom(thrown, { table: { GraphRecursionError: 508 } });
  expect(error).toMatchObject({ status: 508, message: thrown.message, cause: thrown });
  expect(failureFrom(thrown)).toMatchObject({ status: 500, retryable: false });
});

test("an error is recognized by its name anywhere in the chain of causes", () => {
  expect(failureFrom(named("Wrapped", "outer", named("TimeoutError", "inner")))).toMatchObject({
    status: 504,
    message: "outer",
  });
  expect(failureFrom(named("AbortError", "stopped"))).toMatchObject({ status: 499 });
});

test("an HTTP status is not the handoff's status, but decides whether to retry", () => {
  const of = (status: number) => failureFrom(Object.assign(new Error("model"), { status }));
  expect(of(401)).toMatchObject({ status: 500, retryable: false });
  expect(of(429)).toMatchObject({ status: 500, retryable: true });
});

test("after a cancellation the reason of the cancellation is reported", () => {
  const reason = new WaybillError(504, "The deadline has passed.");
  const signal = AbortSignal.abort(reason);
  expect(failureFrom(new Error("socket closed"), { signal })).toBe(reason);
});

test("a failed child is a 424, whatever the child's own status", () => {
  const part = asFailureOfPart(new WaybillError(422, "no query", { retryable: true }));
  const error = failureFrom(new Error("node failed", { cause: part }));
  expect(error).toMatchObject({
    status: 424,
    message: "A part of the work ended with 422: no query",
    retryable: true,
  });
});

test("a WaybillError stays as it is, and any other thrown value gets a message", () => {
  const own = new WaybillError(422, "no");
  expect(failureFrom(new Error("wrapped", { cause: own }))).toBe(own);
  expect(failureFrom("plain")).toMatchObject({ status: 500, message: "plain" });
  expect(failureFrom(undefined)).toMatchObject({ status: 500 });
});
