import assert from "node:assert/strict";
import test from "node:test";
import { newestOf, oldestOf } from "./ranges.mjs";

test("the oldest version of a range is its lowest bound, number by number", () => {
  assert.equal(oldestOf(">=1.4.10 <1.5"), "1.4.10");
  assert.equal(oldestOf("^7.0.0 || ^6.10.0 || ^6.9"), "6.9.0");
  assert.throws(() => oldestOf("*"), /no lower bound/);
});

test("the newest version is no release candidate, and 1.10 is newer than 1.9", () => {
  assert.equal(newestOf(["1.9.0", "1.10.0", "1.11.0-rc.1"]), "1.10.0");
});
