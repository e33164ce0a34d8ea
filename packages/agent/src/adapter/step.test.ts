import { idTime, isId, newId } from "@waybill/protocol";
import { expect, test } from "vitest";
import { handoffIdOf } from "./step.ts";

test("a step has one id, in every process", () => {
  expect(handoffIdOf("editor", { run: "thread-1", step: "call_A" })).toBe(
    "00000000-0000-7c3a-a69d-6bef83600909",
  );
});

test("an agent, a run and a step that differ have ids that differ, however they are cut", () => {
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

test("every id is one that the protocol takes", () => {
  for (let index = 0; index < 1000; index++) {
    expect(isId(handoffIdOf("editor", { run: `${index}`, step: "✓ 𝌆" }))).toBe(true);
  }
});

test("a run that is a handoff lends its time, so that its parts are kept near it", () => {
  const run = newId();
  expect(idTime(handoffIdOf("editor", { run, step: "part" }))).toBe(idTime(run));
});
