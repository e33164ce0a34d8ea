import assert from "node:assert/strict";
import test from "node:test";
import { countOf } from "./python-report.mjs";

test("passed, failed and skipped tests are distinguished, with name and reason", () => {
  const xml = [
    '<testsuite name="pytest"><testcase classname="tests.a" name="test_one" time="0.1" />',
    '<testcase classname="tests.a" name="test_two[x&gt;y]" time="0.1"></testcase>',
    '<testcase classname="tests.a" name="test_three"><failure message="no">trace</failure></testcase>',
    '<testcase classname="tests.a" name="test_four"><error message="gone">trace</error></testcase>',
    '<testcase classname="tests.b" name="test_five"><skipped type="pytest.skip" message="no Linux">where</skipped></testcase>',
    "</testsuite>",
  ].join("");
  assert.deepEqual(countOf(xml), {
    passed: 2,
    failed: ["tests.a > test_three", "tests.a > test_four"],
    skipped: ["tests.b > test_five: no Linux"],
  });
});

test("without a report nothing has passed", () => {
  assert.deepEqual(countOf(""), { passed: 0, failed: [], skipped: [] });
});
