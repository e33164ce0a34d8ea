import { idTime, isId, newId } from "@waybill/protocol";
import { expect, test } from "vitest";
import { handoffIdOf } from "./step.ts";

test("a step has the same id in every process", () => {
  expect(handoffIdOf("editor", { run: "thread-1", step: "call_A" })).toBe(
    "00000000-0000-7c3a-a69d-6bef83600909",
  );
});

test("different agents, runs or steps have different ids, however their names are split", () => {
  const ids = [
    handoffIdOf("a", { run: "b", step: "c" }),
    handoffIdOf("b", { run: "a", step: "c" }),
    handoffIdOf("a", { run: "bc", step: "" }),
    handoffIdOf("a", { run: "b", step: "d" }),
    handoffIdOf("ab", { run: "", step: "c" }),
    handoffIdOf("a", { run: 'b","c', step: "" }),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});

test("every id is valid in the protocol", () => {
  for (let index = 0; index < 1000; index++) {
    expect(isId(handoffIdOf("editor", { run: `${index}`, step: "✓ 𝌆" }))).toBe(true);
  }
});

test("ids of steps take their time from the handoff that they run in, so that they are stored near it", () => {
  const run = newId();
  expect(idTime(handoffIdOf("editor", { run, step: "part" }))).toBe(idTime(run));
});
