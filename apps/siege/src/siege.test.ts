import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { CLASSES } from "./classes.ts";
import { figuresOf, summaryOf } from "./report.ts";
import { attackSeconds } from "./schedule.ts";
import { classesListed, figuresWritten } from "./written.ts";

const NAMES = CLASSES.map(({ name }) => name);

test("the README lists the classes that there are", () => {
  expect(classesListed()).toEqual(NAMES);
});

test("no two classes have the same name", () => {
  expect(new Set(NAMES).size).toBe(NAMES.length);
});

test("a run may be of some classes only, and a name that is none is refused", () => {
  expect(readArguments([]).only).toBeUndefined();
  expect(readArguments(["--", "--only", "listing,silence"]).only).toHaveLength(2);
  expect(() => readArguments(["--only", "peace"])).toThrow("There is no class peace");
  expect(() => readArguments(["--minutes", "0"])).toThrow("--minutes");
});

test("a run without classes has no figures", () => {
  expect(summaryOf([])).toEqual({
    classes: [],
    failed: [],
    worst_honest_p99_ms: 0,
    peak_rss_mb: 0,
    crashes: 0,
  });
});

test("SECURITY.md has the figures of a run of all classes", () => {
  expect(figuresWritten()).toContain(` of ${NAMES.length} classes of attack held to their bounds`);
  expect(figuresWritten()).toMatch(/^- Crashes: \d+\.$/m);
});

test("the figures name the classes that failed", () => {
  const summary = { worst_honest_p99_ms: 700, peak_rss_mb: 400, crashes: 1 };
  const figures = figuresOf({ ...summary, classes: ["a", "b"], failed: ["b"] }, 10);
  expect(figures).toContain("1 of 2 classes of attack held to their bounds; not `b`.");
});

test("what is left of a run is shared among the classes that are left, none of them too short", () => {
  expect(attackSeconds(60_000, 3)).toBe(15);
  expect(attackSeconds(60_000, 2)).toBe(25);
  expect(attackSeconds(-1_000, 2)).toBe(1.5);
});
