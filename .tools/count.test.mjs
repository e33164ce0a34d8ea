import assert from "node:assert/strict";
import test from "node:test";
import { closingLine, count } from "./count.mjs";

const passing = { passed: 3, failed: [], skipped: [] };
const reportOf = (files, failed = []) => ({ failed, files });

test("the tests of all packages are added up", () => {
  const total = count([
    { name: "a", report: reportOf({ "x.test.ts": passing, "y.test.ts": passing }) },
    { name: "b", report: reportOf({ "z.test.ts": { ...passing, failed: ["breaks"] } }) },
  ]);
  assert.deepEqual(total, { passed: 9, failed: ["b z.test.ts > breaks"], skipped: [] });
  assert.equal(closingLine(total), "9 passed, 1 failed");
});

test("a package that wrote no report has failed", () => {
  assert.equal(closingLine(count([{ name: "a", report: undefined }])), "0 passed, 1 failed");
});

test("an error outside any test has failed", () => {
  assert.equal(
    closingLine(count([{ name: "a", report: reportOf({ x: passing }, ["boom"]) }])),
    "3 passed, 1 failed",
  );
});

test("a skip with a reason counts as skipped, and one without has failed", () => {
  const skipped = [{ test: "one", reason: "no browser" }, { test: "two" }];
  const runs = [{ name: "a", report: reportOf({ x: { ...passing, skipped } }) }];
  assert.deepEqual(count(runs).skipped, ["a x > one: no browser"]);
  assert.equal(closingLine(count(runs)), "3 passed, 1 failed, 1 skipped");
  assert.equal(closingLine(count(runs, true)), "3 passed, 0 failed, 1 skipped");
});
