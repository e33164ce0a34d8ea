import { expect, test } from "vitest";
import type { Kind } from "./arguments.ts";
import { failuresOf } from "./planted.ts";
import type { Planted } from "./planted.ts";

function planted(kind: Kind, killed: number, survived: number): Planted[] {
  const fault = { package: "hub", kind, name: "a fault" };
  return [
    ...Array.from({ length: killed }, () => ({ ...fault, killedBy: "a test", reason: undefined })),
    ...Array.from({ length: survived }, () => ({
      ...fault,
      killedBy: undefined,
      reason: "no test",
    })),
  ];
}

test("generated faults may survive up to a tenth of all", () => {
  expect(failuresOf(planted("generated", 90, 10), false)).toBe(0);
  expect(failuresOf(planted("generated", 89, 11), false)).toBe(11);
});

test("a sample says nothing about the rate", () => {
  expect(failuresOf(planted("generated", 1, 1), true)).toBe(0);
});

test("a fault by hand that survived is a failure, in a sample too", () => {
  const all = [...planted("by hand", 20, 1), ...planted("generated", 20, 1)];
  expect(failuresOf(all, false)).toBe(1);
  expect(failuresOf(all, true)).toBe(1);
});
