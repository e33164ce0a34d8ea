import { expect, test } from "vitest";
import { isSameWork } from "./same-work.ts";

const body = { capability: "work", input: { a: 1, b: [1, { c: null }] } };

test.each([
  [{ ...body }, true],
  [{ capability: "work", input: { b: [1, { c: null }], a: 1 } }, true],
  [{ ...body, metadata: { run: 2 }, contract: { max_attempts: 1 } }, true],
  [{ ...body, capability: "other" }, false],
  [{ ...body, version: "2" }, false],
  [{ ...body, input: { a: 1, b: [1, { c: 0 }] } }, false],
  [{ ...body, input: { a: 1, b: [{ c: null }, 1] } }, false],
  [{ ...body, input: { a: 1 } }, false],
  [{ capability: "work" }, false],
  [{ ...body, brief: { instruction: "do it" } }, false],
  [{ ...body, messages: [{ role: "user" as const, content: [] }] }, false],
])("%j: %s", (other, isSame) => {
  expect(isSameWork(body, other)).toBe(isSame);
});
