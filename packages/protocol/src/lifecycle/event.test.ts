import { expect, test } from "vitest";
import type { Digest } from "../signing/digest.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { eventOf } from "./event.ts";
import { HANDOFF, RESULT } from "./lifecycle-fixture.ts";

const AT = 5_000;
const base = {
  waybill: 1,
  id: "e",
  handoff_id: "h",
  correlation_id: "c",
  issued_at: "2026-01-01T00:00:00.000Z",
  salt: "AAAAAAAAAAAAAAAAAAAAAA",
} as const;
const ofRecipient = { ...base, from: "r", to: "d", attempt: 2, re: HANDOFF };
const ofDelegator = { ...base, from: "d", to: "r" };
const said = { by: "r", attempt: 2, re: HANDOFF, at: AT };

function eventFor(envelope: Envelope, digest: Digest = RESULT): unknown {
  // Undefined members are equal to missing ones, on the wire and in a store.
  const event = eventOf(envelope, digest, AT);
  return event && JSON.parse(JSON.stringify(event));
}

test("a handoff is a submission, with the terms that its contract names", () => {
  const handoff: Envelope = {
    ...ofDelegator,
    kind: "handoff",
    domain: "A".repeat(43),
    deadline: "2026-01-01T00:10:00.000Z",
    body: { capability: "research", contract: { lease_seconds: 7, max_attempts: 5 } },
  };
  const submit = {
    type: "submit",
    id: "h",
    digest: RESULT,
    by: "d",
    recipient: "r",
    deadline: Date.UTC(2026, 0, 1, 0, 10),
    terms: { leaseMs: 7_000, maxAttempts: 5 },
    at: AT,
  };
  expect(eventFor(handoff)).toEqual(submit);
  const toAnyone: Envelope = { ...handoff, to: { capability: "research" } };
  expect(eventFor(toAnyone)).toEqual({ ...submit, recipient: null });
  const silent: Envelope = { ...handoff, body: { capability: "research" } };
  expect(eventFor(silent)).toEqual({ ...submit, terms: {} });
});

test("envelopes of the delegator", () => {
  expect(eventFor({ ...ofDelegator, kind: "cancel", body: {} })).toEqual({
    type: "cancel",
    by: "d",
    digest: RESULT,
    at: AT,
  });
  const body = { question_id: "q", answer: "yes" };
  expect(eventFor({ ...ofDelegator, kind: "answer", re: HANDOFF, body })).toEqual({
    type: "answer",
    by: "d",
    question: "q",
    digest: RESULT,
    at: AT,
  });
  const receipt: Envelope = { ...ofDelegator, kind: "receipt", re: RESULT, body: { status: 200 } };
  expect(eventFor(receipt)).toEqual({ type: "acknowledge", by: "d", outcome: RESULT, at: AT });
});

test("the effect of a receipt depends on its status", () => {
  const receipt = (status: 101 | 300 | 301 | 406 | 422): Envelope => ({
    ...ofRecipient,
    kind: "receipt",
    body: { status, retry_after_ms: 9 },
  });
  expect(eventFor(receipt(101))).toEqual({ type: "accept", ...said });
  for (const status of [300, 301] as const) {
    const release = { type: "release", status, retryAfterMs: 9, ...said };
    expect(eventFor(receipt(status))).toEqual(release);
  }
  for (const status of [406, 422] as const) {
    expect(eventFor(receipt(status))).toEqual({ type: "reject", status, digest: RESULT, ...said });
  }
});

test("progress, questions and results", () => {
  expect(eventFor({ ...ofRecipient, kind: "progress", body: {} })).toEqual({
    type: "progress",
    ...said,
  });
  const questions = [{ id: "q" }, { id: "p", text: "Which one?" }];
  const question: Envelope = { ...ofRecipient, kind: "question", body: { questions } };
  expect(eventFor(question)).toEqual({ type: "question", questions: ["q", "p"], ...said });
  const pause: Envelope = { ...question, body: { questions, state: "" } };
  expect(eventFor(pause)).toEqual({ type: "pause", questions: ["q", "p"], ...said });
  const result: Envelope = { ...ofRecipient, kind: "result", body: { status: 200, output: 1 } };
  expect(eventFor(result)).toEqual({ type: "result", status: 200, digest: RESULT, ...said });
  const error = { message: "out of memory", retryable: true, retry_after_ms: 50 };
  expect(eventFor({ ...result, body: { status: 500, error } })).toEqual({
    type: "result",
    status: 500,
    digest: RESULT,
    isRetryable: true,
    retryAfterMs: 50,
    ...said,
  });
});

test("notices of the hub's own steps cause no event", () => {
  const ofHub = { ...base, from: "hub", to: "d", re: HANDOFF };
  for (const status of [100, 101, 201, 403, 410] as const) {
    expect(eventFor({ ...ofHub, kind: "receipt", body: { status } })).toBeUndefined();
  }
  const body = { status: 504, reason: "out of time" } as const;
  expect(eventFor({ ...ofHub, kind: "notice", body })).toBeUndefined();
  const odd: Envelope = { ...ofRecipient, kind: "receipt", body: { status: 102 } };
  expect(eventFor(odd)).toBeUndefined();
});
