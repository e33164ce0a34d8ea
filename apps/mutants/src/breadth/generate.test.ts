import { expect, test } from "vitest";
import { chosenFaults, faultsIn } from "./generate.ts";
import { OPERATORS } from "./operators.ts";
import { placesIn } from "./syntax.ts";

/** The line of each fault as it is planted, by operator. */
function planted(source: string): Readonly<Record<string, readonly string[]>> {
  const found: Record<string, string[]> = {};
  for (const { operator, at, find, replace } of faultsIn("x.ts", source)) {
    const changed = source.slice(0, at) + replace + source.slice(at + find.length);
    (found[operator] ??= []).push(changed.replaceAll(/\s+/g, " ").trim());
  }
  return found;
}

const SOURCES: Readonly<Record<string, readonly [source: string, ...faults: string[]]>> = {
  "condition negated": ["if (a) b;", "if (!(a)) b;"],
  "comparison inverted": ["c = a === b;", "c = a !== b;"],
  "call dropped": ["a.b(c);", ";"],
  "assignment dropped": ["this.#a = b;", ";"],
  "early return": [
    "function a(): B { b(); }",
    "function a(): B { if (true) return undefined as never; b(); }",
  ],
  "await missing": ["await a();", "a();"],
  "check dropped": ["if (a) { throw b; }", ";"],
  "boundary shifted": ["c = a < b;", "c = a <= b;"],
  "off by one": ["c = a + 1;", "c = a - 1;"],
  "constant changed": ["const a = [3, true];", "const a = [30, true];", "const a = [3, false];"],
  "and for or": ["c = a && b;", "c = (a || b);"],
};

test.for(Object.keys(OPERATORS))("%s", (operator) => {
  const [source, ...faults] = SOURCES[operator]!;
  expect(planted(source)[operator]).toEqual(faults);
});

test("every fault of a larger source gives a source that can be parsed, and another one", () => {
  const source = `
    class A extends B {
      constructor() { super(); this.x = 1; }
      async *all(): AsyncGenerator<number> { for await (const each of this.y) yield each; }
      async m(): Promise<5> { if (a && (b ?? c) || d) return 5; else if (e) throw f; while (g) await h(); return 5; }
    }`;
  const changed = faultsIn("x.ts", source).map(
    ({ at, find, replace }) => source.slice(0, at) + replace + source.slice(at + find.length),
  );
  expect(new Set([source, ...changed]).size).toBe(changed.length + 1);
  for (const each of changed) expect([...placesIn("x.ts", each)].length).toBeGreaterThan(1);
});

test("a fault is named by its text, not by its place", () => {
  const names = (source: string) => faultsIn("x.ts", source).map(({ name }) => name);
  const [first, second] = names("a();\na();");
  expect([first, second]).toEqual(["call dropped: x.ts: a();", "call dropped: x.ts: a(); (2)"]);
  expect(names("const b = c;\na();")).toContain(first);
});

const many = faultsIn(
  "x.ts",
  Array.from({ length: 40 }, (_, at) => `if (a${at}) b${at}();`).join("\n"),
);

test("the choice is spread over the operators, and depends on the seed", () => {
  const [some, again, others] = [1, 1, 2].map((seed) => chosenFaults(many, 12, seed));
  expect(again).toEqual(some);
  expect(others).not.toEqual(some);
  const operators = some!.map(({ operator }) => operator);
  for (const each of ["condition negated", "call dropped"]) {
    expect(operators.filter((operator) => operator === each)).toHaveLength(6);
  }
});

test("a change of one source leaves the choice in the others as it is", () => {
  const more = faultsIn("y.ts", "if (c) d();");
  const before = chosenFaults(many, 12, 1);
  const after = chosenFaults([...many, ...more], 12, 1);
  const kept = after.filter((each) => before.includes(each));
  expect(kept.length).toBeGreaterThanOrEqual(12 - more.length);
});
