import { isSessionId } from "@waybill/protocol";
import { expect, test } from "vitest";
import { sessionFor } from "./call-session.ts";

test("a step hands off in the session that it names, and in none where it names none", () => {
  expect(sessionFor("trip", "thread-1")).toBe("trip");
  expect(sessionFor({ id: "trip", waitMs: 5 }, "thread-1")).toEqual({ id: "trip", waitMs: 5 });
  expect(sessionFor(undefined, "thread-1")).toBeUndefined();
});

test("the session of the framework's own conversation is its name, or the hash of a name that is none", () => {
  expect(sessionFor(true, "thread-1")).toBe("thread-1");
  expect(sessionFor(true, undefined)).toBeUndefined();
  const hashed = sessionFor(true, "a thread with spaces");
  expect(isSessionId(hashed)).toBe(true);
  expect(sessionFor(true, "a thread with spaces")).toBe(hashed);
  expect(sessionFor(true, "another thread")).not.toBe(hashed);
});
