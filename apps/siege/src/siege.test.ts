import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";
import { CLASSES } from "./classes.ts";
import { classesListed } from "./readme.ts";
import { summaryOf } from "./report.ts";

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
