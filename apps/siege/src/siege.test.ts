import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { CLASSES } from "./classes.ts";
import { figuresOf, isFailed, isUnsafe, readTable, summaryOf, tableOf } from "./report.ts";
import { NOTHING } from "./run/facts.ts";
import type { Problem } from "./run/judge.ts";
import type { Row } from "./run/trial.ts";
import { attackSeconds } from "./schedule.ts";
import { classesListed, figuresWritten } from "./written.ts";

const NAMES = CLASSES.map(({ name }) => name);

test("the README lists the existing classes", () => {
  expect(classesListed()).toEqual(NAMES);
});

test("no two classes have the same name", () => {
  expect(new Set(NAMES).size).toBe(NAMES.length);
});

test("a run may be limited to some classes, and an unknown name is refused", () => {
  expect(readArguments([]).only).toBeUndefined();
  expect(readArguments(["--", "--only", "listing,silence"]).only).toHaveLength(2);
  expect(() => readArguments(["--only", "peace"])).toThrow("There is no class peace");
  expect(() => readArguments(["--minutes", "0"])).toThrow("--minutes");
});

test("a late row fails only if latency is judged, and any other problem always fails", () => {
  const kinds = ["time", "memory", "reach", "newcomer", "safety"] as const;
  const row = (of: Problem["of"]): Row => ({
    attackClass: CLASSES[0]!,
    facts: NOTHING,
    problems: [{ of, says: "" }],
    isSecond: false,
  });
  expect(kinds.map(row).filter((each) => !isFailed(each))).toEqual([]);
  expect(kinds.filter((of) => isUnsafe(row(of)))).toEqual([
    "memory",
    "reach",
    "newcomer",
    "safety",
  ]);
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

test("SECURITY.md has the table's figures", () => {
  expect(figuresWritten()).toContain(` of ${NAMES.length} classes of attack held to their bounds`);
});

test("the figures name the failed classes, and the worst values", () => {
  const table = tableOf([
    ["`a`", "does one thing", "700 ms", "20 ms", "300 MB", "500 ms", "180 MB"],
    ["`b`", "does another **(failed)**", "90 ms", "20 ms", "400 MB", "500 ms", "410 MB"],
    ["`c`", "fills the disk", "9000 ms", "20 ms", "300 MB", "500 ms", "180 MB"],
  ]);
  const figures = figuresOf(readTable(table), ["c"]);
  expect(figures).toContain("2 of 3 classes of attack held to their bounds; not `b`.");
  expect(figures).toContain(": 700 ms,");
  expect(figures).toContain(": 410 MB.");
});

test("the remaining time is divided among the remaining classes, with a minimum for each", () => {
  expect(attackSeconds(60_000, 3)).toBe(15);
  expect(attackSeconds(60_000, 2)).toBe(25);
  expect(attackSeconds(-1_000, 2)).toBe(1.5);
});
