/// <reference types="node" />
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readDelivery, readHandoffView } from "../wire.ts";
import { sessionHolderOf, isHolderFirst, sessionOffered } from "../hub.ts";
import { createHandoff, principalOf, sessionFound, sessionKey } from "../index.ts";
import type { SessionState } from "../index.ts";
import { START } from "../lifecycle/lifecycle-fixture.ts";
import { DOMAIN, handoff, readWith, SOURCE, statusOf } from "./rules-fixture.ts";
import {
  accept,
  after,
  again,
  endedStates,
  follow,
  offer,
  openStates,
  retryable,
  toAnyone,
} from "./states-fixture.ts";

const read = (session: unknown) => () => readWith("handoff", { session });

test("WB-220 a session is named by 1 to 128 visible ASCII characters", () => {
  for (const id of ["a", "trip-42", "anna@example.com/7", "!", "~", 'a"b\\c']) {
    expect(statusOf(read({ id })), id).toBe("taken");
  }
  expect(statusOf(read({ id: "x".repeat(128) }))).toBe("taken");
  const bad = ["", "x".repeat(129), "trip 42", "a\n", "\u007f", "é", "\u202e", 42, null, undefined];
  for (const id of bad) expect(statusOf(read({ id })), String(id)).toBe(400);
  for (const session of ["trip", 1, null, []]) expect(statusOf(read(session))).toBe(400);
});

test("WB-220 a hub waits for the holder for a day at most", () => {
  for (const wait_seconds of [0, 0.5, 86_400]) {
    expect(statusOf(read({ id: "a", wait_seconds }))).toBe("taken");
  }
  for (const wait_seconds of [-1, 86_401, "1", null]) {
    expect(statusOf(read({ id: "a", wait_seconds })), String(wait_seconds)).toBe(400);
  }
});

test("WB-220 a child is not part of its parent's session", () => {
  const parent = handoff({ session: { id: "trip" } });
  const body = { capability: "web_research" };
  const child = createHandoff({ from: "researcher", domain: DOMAIN, body, parent }, SOURCE);
  expect(child.session).toBeUndefined();
});

test("WB-221 the key of a session is derived from the principal and the id", () => {
  const text = "waybill session 1\neditor\ntrip-42";
  expect(sessionKey("editor", "trip-42")).toBe(createHash("sha256").update(text).digest("hex"));
  const keys = [
    sessionKey("editor", "trip-42"),
    sessionKey("writer", "trip-42"),
    sessionKey("editor", "trip-43"),
    sessionKey("editor-trip", "42"),
    sessionKey(principalOf({ from: "editor", on_behalf_of: "ada" }), "trip-42"),
    sessionKey(principalOf({ from: "editor", on_behalf_of: "ben" }), "trip-42"),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  for (const id of ["", "a b", "a\nb", "é", "x".repeat(129)]) {
    expect(
      statusOf(() => sessionKey("editor", id)),
      id,
    ).toBe(400);
  }
});

describe("the holder of a session", () => {
  const anyone = after(toAnyone);
  const offered = after(toAnyone, offer);

  test("WB-222 is the recipient of a handoff that is accepted, paused or completed", () => {
    expect(sessionHolderOf(anyone)).toBeUndefined();
    expect(sessionHolderOf(offered)).toBeUndefined();
    const states = openStates();
    expect(sessionHolderOf(states.accepted)).toBe(states.accepted.attempts[0]!.recipient);
    expect(sessionHolderOf(states.paused)).toBe(states.paused.attempts[0]!.recipient);
    for (const [name, state] of Object.entries(endedStates())) {
      const holder = name === "completed" ? state.attempts.at(-1)!.recipient : undefined;
      expect(sessionHolderOf(state), name).toBe(holder);
    }
  });

  test("WB-222 is not changed by a handoff that was cancelled while it was paused", () => {
    const { paused } = openStates();
    const cancelled = follow(paused, { type: "cancel" });
    expect(cancelled.state).toBe("cancelled");
    expect(sessionHolderOf(cancelled)).toBeUndefined();
  });

  test("WB-222 is not the recipient of an attempt that has failed", () => {
    const failed = after(toAnyone, offer, accept, retryable);
    expect(failed.state).toBe("open");
    expect(sessionHolderOf(failed)).toBeUndefined();
  });

  test("WB-222 is preferred at every attempt until it has failed two of them", () => {
    const holder = offered.attempts[0]!.recipient;
    const attempt = (closed: "lease_lost" | "released" | "paused" | "unreachable" | null) => ({
      ...offered.attempts[0]!,
      closed,
    });
    const first = (...closed: Parameters<typeof attempt>[0][]) =>
      isHolderFirst({ attempts: closed.map(attempt) }, holder);
    expect(first()).toBe(true);
    expect(first("lease_lost")).toBe(true);
    expect(first("lease_lost", "unreachable")).toBe(false);
    expect(first("released", "paused", "released", "lease_lost")).toBe(true);
    expect(isHolderFirst({ attempts: [attempt("lease_lost"), attempt("lease_lost")] }, "ben")).toBe(
      true,
    );
  });
});

test("WB-223 an offer says whether its recipient holds the session", () => {
  expect(sessionOffered(undefined, "ann")).toBe("begun");
  expect(sessionOffered("ann", "ann")).toBe("continued");
  expect(sessionOffered("ben", "ann")).toBe("lost");
});

test("WB-223 a result says what the recipient found, whatever the hub knew", () => {
  const offered: readonly SessionState[] = ["begun", "continued", "lost"];
  expect(offered.map((each) => sessionFound(each, true))).toEqual(offered.map(() => "continued"));
  expect(offered.map((each) => sessionFound(each, false))).toEqual(["begun", "lost", "lost"]);
});

test("WB-223 an unknown word for the state of a session is refused with 400", () => {
  const states = ["begun", "continued", "lost"];
  const accepted = (session: unknown) => () =>
    readWith("receipt", { body: { status: 101, session } });
  const completed = (session: unknown) => () =>
    readWith("result", { body: { status: 200, output: 1, session } });
  const delivered = (session: unknown) => () =>
    readDelivery({
      type: "offer",
      id: "d",
      handoff_id: "h",
      attempt: 1,
      envelope: "e",
      remaining_ms: 1,
      lease_ms: 1,
      is_accepted: false,
      answers: [],
      received_at: {},
      session,
    });
  for (const reader of [accepted, completed, delivered]) {
    for (const state of states) expect(statusOf(reader(state)), state).toBe("taken");
    for (const state of ["new", "", 1, null]) expect(statusOf(reader(state))).toBe(400);
  }
  expect(delivered("lost")()).toMatchObject({ session: "lost" });
  const view = {
    id: handoff().handoff_id,
    state: "open",
    status: 100,
    deadline: handoff().deadline,
    attempts: [],
    is_acknowledged: false,
    envelope: "e",
    questions: [],
    received_at: {},
  };
  expect(readHandoffView({ ...view, session: "lost" })).toMatchObject({ session: "lost" });
  expect(statusOf(() => readHandoffView({ ...view, session: "gone" }))).toBe(400);
});

test("WB-224 a handoff that is released with 301 uses up no attempt and is offered again", () => {
  const released = after(toAnyone, offer, accept, { type: "release", status: 301 });
  expect(released).toMatchObject({ state: "open", attempts: [{ closed: "released" }] });
  const { maxAttempts } = released.terms;
  let state = released;
  for (let number = 2; number <= maxAttempts + 1; number++) {
    state = follow(again(state), { type: "accept", attempt: number, at: state.nextAttemptAt! });
    state = follow(state, { type: "release", status: 301, attempt: number, at: START + 1 });
  }
  expect(state.state).toBe("open");
});
