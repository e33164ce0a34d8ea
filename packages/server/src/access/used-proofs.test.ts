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

test("7: a proof is used once for as long as it would be believed, whatever else was used since", () => {
  const used = new UsedProofs(SKEW_MS, new Budgets());
  const id = newId();
  used.use("anna", id, 0);
  for (let count = 0; count < 100; count++) used.use(`other-${count}`, newId(), 10);
  expect(statusOf(() => used.use("anna", id, WINDOW_MS - 1))).toBe(401);
  expect(statusOf(() => used.use("berta", id, WINDOW_MS - 1))).toBe(200);
  expect(statusOf(() => used.use("anna", id, WINDOW_MS))).toBe(200);
  expect(statusOf(() => used.use("anna", id, WINDOW_MS + 1))).toBe(401);
});

test("39: what has run out is forgotten little by little, and nothing of it stays", () => {
  const used = new UsedProofs(SKEW_MS, new Budgets());
  for (let agent = 0; agent < 50; agent++) {
    for (let count = 0; count < 100; count++) used.use(`agent-${agent}`, newId(), 0);
  }
  expect(used.size).toBe(5_000);
  let before = used.size;
  let requests = 0;
  for (; used.size > requests && requests < 5_000; requests++) {
    used.use("late", newId(), WINDOW_MS);
    // Those of the agent itself, and those of one other.
    expect(before - used.size).toBeLessThan(2 * 16);
    before = used.size;
  }
  expect(used.size).toBe(requests);
});

test("where the hub remembers as many as it may, those who have used the most are told to come again", () => {
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
