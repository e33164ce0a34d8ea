import { expect, test, vi } from "vitest";
import type { Handoff, LifecycleEvent, Step } from "../lifecycle/handoff.ts";
import { HistoryWriter } from "./history-fixture.ts";
import { checkHistory } from "./history.ts";
import type { RuleName } from "./history.ts";

type Reducer = (state: Handoff | undefined, event: LifecycleEvent) => Step;
type Bug = (right: Reducer) => Reducer;

const planted = vi.hoisted((): { bug: Bug } => ({ bug: (right) => right }));

// The hub that writes the history and the checker that reads it share the faulty reducer, so only the
// checker's independent statements of the promises can find the fault.
vi.mock("../lifecycle/lifecycle.ts", async (importOriginal) => {
  const original = await importOriginal<{ step: Reducer }>();
  const step: Reducer = (state, event) => planted.bug(original.step)(state, event);
  return { ...original, step };
});

function rulesBroken(bug: Bug, live: (writer: HistoryWriter) => void): RuleName[] {
  planted.bug = bug;
  try {
    const writer = new HistoryWriter();
    writer.submit("h");
    writer.hub("h", { type: "offer", recipient: "r" });
    live(writer);
    return checkHistory(writer.entries, { isComplete: true }).violations.map(({ rule }) => rule);
  } finally {
    planted.bug = (right) => right;
  }
}
const patched = (state: Handoff, over: Partial<Handoff>, ...effects: Step["effects"]): Step => ({
  state: { ...state, ...over },
  effects: [{ type: "reply", status: 100 }, ...effects],
});

test("a correct reducer passes", () => {
  expect(
    rulesBroken(
      (right) => right,
      (writer) => writer.result("h"),
    ),
  ).toEqual([]);
});

test("a reducer without the guard of the end is found: a second result counts", () => {
  const bug: Bug = (right) => (state, event) =>
    event.type === "result" && state !== undefined && state.state !== "open"
      ? patched(state, { outcome: event.digest })
      : right(state, event);
  const broken = rulesBroken(bug, (writer) => {
    writer.result("h");
    expect(writer.result("h")).toBe(100);
  });
  expect(broken).toContain("ended_twice");
});

test("a reducer that ignores the deadline is found: a result completes after it", () => {
  const bug: Bug = (right) => (state, event) =>
    state !== undefined && event.type === "result"
      ? right(state, { ...event, at: Math.min(event.at, state.deadline - 1) })
      : right(state, event);
  const broken = rulesBroken(bug, (writer) => {
    writer.receipt("h", { status: 101 });
    writer.now += 60_000;
    expect(writer.result("h")).toBe(100);
  });
  expect(broken).toEqual(["completed_late"]);
});

test("a reducer that ignores the sender is found: a stranger accepts and completes", () => {
  const bug: Bug = (right) => (state, event) =>
    "re" in event ? right(state, { ...event, by: "r" }) : right(state, event);
  const broken = rulesBroken(bug, (writer) => {
    const ofStranger = { ...writer.ofRecipient("h"), from: "x" };
    writer.send({ ...ofStranger, kind: "receipt", body: { status: 101 } });
    expect(writer.send({ ...ofStranger, kind: "result", body: { status: 200 } })).toBe(100);
  });
  expect(broken).toEqual(["acceptance_not_by_recipient", "result_not_by_recipient"]);
});

test("a reducer that ignores the digest is found: a recipient accepts and completes something else", () => {
  const bug: Bug = (right) => (state, event) =>
    "re" in event && state !== undefined
      ? right(state, { ...event, re: state.digest })
      : right(state, event);
  const broken = rulesBroken(bug, (writer) => {
    const ofOther = { ...writer.ofRecipient("h"), re: writer.digest() };
    writer.send({ ...ofOther, kind: "receipt", body: { status: 101 } });
    expect(writer.send({ ...ofOther, kind: "result", body: { status: 200 } })).toBe(100);
  });
  expect(broken).toEqual(["acceptance_of_other_digest", "result_of_other_digest"]);
});

test("a reducer that does not end is found: the result is accepted and the handoff stays open", () => {
  const bug: Bug = (right) => (state, event) =>
    event.type === "result" && state !== undefined ? patched(state, {}) : right(state, event);
  expect(rulesBroken(bug, (writer) => writer.result("h"))).toEqual(["end_differs"]);
});

test("a reducer with the wrong end is found: an expired handoff is cancelled", () => {
  const bug: Bug = (right) => (state, event) => {
    const next = right(state, event);
    return event.type === "expire" ? patched(next.state!, { state: "cancelled" }) : next;
  };
  const broken = rulesBroken(bug, (writer) => {
    writer.now += 60_000;
    writer.hub("h", { type: "expire" });
  });
  expect(broken).toEqual(["end_differs"]);
});

test("a reducer that reopens is found: the acknowledgement of a failure starts it again", () => {
  const bug: Bug = (right) => (state, event) =>
    event.type === "acknowledge" && state !== undefined
      ? patched(state, { state: "open", outcome: null })
      : right(state, event);
  const broken = rulesBroken(bug, (writer) => {
    writer.result("h", { status: 500 });
    expect(writer.acknowledge("h")).toBe(100);
  });
  expect(broken).toEqual(["end_differs"]);
});

test("a reducer that loses handoffs is found: nothing happens at the deadline", () => {
  const bug: Bug = (right) => (state, event) =>
    event.type === "expire" ? patched(state!, { status: 504 }) : right(state, event);
  const broken = rulesBroken(bug, (writer) => {
    writer.now += 60_000;
    writer.hub("h", { type: "expire" });
  });
  expect(broken).toEqual(["end_differs"]);
});
