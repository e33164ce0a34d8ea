import { expect, test } from "vitest";
import { saidSince, sessionFor } from "./call-session.ts";
import { textMessage } from "./message.ts";

const TALK = [
  textMessage("user", "one", "anna"),
  textMessage("assistant", "first", "expert"),
  textMessage("assistant", "other", "critic"),
  textMessage("user", "two", "expert"),
];

test("in a session a member gets what was said since its last turn", () => {
  expect(saidSince("trip", TALK, "expert")).toEqual(TALK.slice(2));
  expect(saidSince(true, TALK, "critic")).toEqual(TALK.slice(3));
});

test("without a session, or before its first turn, a member gets the whole conversation", () => {
  expect(saidSince(undefined, TALK, "expert")).toEqual(TALK);
  expect(saidSince("trip", TALK, "newcomer")).toEqual(TALK);
});

test("a member that spoke last gets the whole conversation, because nothing is new", () => {
  expect(saidSince("trip", TALK.slice(0, 2), "expert")).toEqual(TALK.slice(0, 2));
});

test("a conversation name that is no valid session id is turned into one", () => {
  expect(sessionFor(true, "run-1")).toBe("run-1");
  expect(sessionFor(true, "a run")).toMatch(/^[0-9a-f]{64}$/);
  expect(sessionFor(true, undefined)).toBeUndefined();
  expect(sessionFor("trip", "run-1")).toBe("trip");
});
