import { WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import { asFailureOfPart, failureFrom } from "./failure.ts";

const named = (name: string, message: string, cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { name });

test("a framework's error keeps its message, and is the cause itself", () => {
  const thrown = named("GraphRecursionError", "Recursion limit of 25 reached");
  const error = failureFrom(thrown, { table: { GraphRecursionError: 508 } });
  expect(error).toMatchObject({ status: 508, message: thrown.message, cause: thrown });
  expect(failureFrom(thrown)).toMatchObject({ status: 500, retryable: false });
});

test("an error is known by its name wherever it stands among the causes", () => {
  expect(failureFrom(named("Wrapped", "outer", named("TimeoutError", "inner")))).toMatchObject({
    status: 504,
    message: "outer",
  });
  expect(failureFrom(named("AbortError", "stopped"))).toMatchObject({ status: 499 });
});

test("a status of HTTP is no status of a handoff, but tells whether to try again", () => {
  const of = (status: number) => failureFrom(Object.assign(new Error("model"), { status }));
  expect(of(401)).toMatchObject({ status: 500, retryable: false });
  expect(of(429)).toMatchObject({ status: 500, retryable: true });
});

test("once the run was told to stop, that is what happened", () => {
  const reason = new WaybillError(504, "The deadline has passed.");
  const signal = AbortSignal.abort(reason);
  expect(failureFrom(new Error("socket closed"), { signal })).toBe(reason);
});

test("the failure of a part is a 424, whatever it says of the part", () => {
  const part = asFailureOfPart(new WaybillError(422, "no query", { retryable: true }));
  const error = failureFrom(new Error("node failed", { cause: part }));
  expect(error).toMatchObject({
    status: 424,
    message: "A part of the work ended with 422: no query",
    retryable: true,
  });
});

test("an error of ours stays what it is, and anything else gets words", () => {
  const own = new WaybillError(422, "no");
  expect(failureFrom(new Error("wrapped", { cause: own }))).toBe(own);
  expect(failureFrom("plain")).toMatchObject({ status: 500, message: "plain" });
  expect(failureFrom(undefined)).toMatchObject({ status: 500 });
});
