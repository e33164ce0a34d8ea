import { newId } from "@waybill/protocol";
import { expect, test } from "vitest";
import { Budgets } from "../budgets.ts";
import { UsedProofs } from "./used-proofs.ts";

const SKEW_MS = 60_000;
const WINDOW_MS = 2 * SKEW_MS;

function statusOf(work: () => void): unknown {
  try {
    work();
    return 200;
  } catch (error) {
    return (error as { status: number }).status;
  }
}

test("7: a proof can be used once for as long as it is valid, whatever else was used since", () => {
  const used = new UsedProofs(SKEW_MS, new Budgets());
  const id = newId();
  used.use("anna", id, 0);
  for (let count = 0; count < 100; count++) used.use(`other-${count}`, newId(), 10);
  expect(statusOf(() => used.use("anna", id, WINDOW_MS - 1))).toBe(401);
  expect(statusOf(() => used.use("berta", id, WINDOW_MS - 1))).toBe(200);
  expect(statusOf(() => used.use("anna", id, WINDOW_MS))).toBe(200);
  expect(statusOf(() => used.use("anna", id, WINDOW_MS + 1))).toBe(401);
});

test("39: expired proofs are forgotten gradually, and completely", () => {
  const used = new UsedProofs(SKEW_MS, new Budgets());
  for (let agent = 0; agent < 50; agent++) {
    for (let count = 0; count < 100; count++) used.use(`agent-${agent}`, newId(), 0);
  }
  expect(used.size).toBe(5_000);
  let before = used.size;
  let requests = 0;
  for (; used.size > requests && requests < 5_000; requests++) {
    used.use("late", newId(), WINDOW_MS);
    // Those of the agent itself, and those of another one.
    expect(before - used.size).toBeLessThan(2 * 16);
    before = used.size;
  }
  expect(used.size).toBe(requests);
});

test("a full memory refuses the agents that have used the most proofs", () => {
  const budgets = new Budgets({ proofsPerAgent: 90, proofsPerHub: 100 });
  const used = new UsedProofs(SKEW_MS, budgets);
  for (let count = 0; count < 90; count++) used.use("much", newId(), 0);
  expect(statusOf(() => used.use("much", newId(), 0))).toBe(301);
  expect(budgets.hitsOf("proofsPerAgent")).toBe(1);
  for (let count = 0; count < 10; count++) used.use("little", newId(), 0);
  expect(statusOf(() => used.use("much", newId(), 0))).toBe(301);
  expect(budgets.hitsOf("proofsPerHub")).toBe(1);
  expect(statusOf(() => used.use("little", newId(), 0))).toBe(200);
  expect(statusOf(() => used.use("new", newId(), 0))).toBe(200);
});
