import { describe, expect, test } from "vitest";
import { checkClock } from "./hub.ts";
import { checkNode } from "./machine.ts";

test.each([
  ["20.20.2", "wrong"],
  ["22.12.0", "wrong"],
  ["22.13.0", "ok"],
  ["24.0.0", "ok"],
])("Node %s is %s", (version, verdict) => {
  expect(checkNode(version).verdict).toBe(verdict);
});

describe("the hub's clock", () => {
  const askedAt = Date.parse("2026-11-18T12:00:00.900Z");
  test.each([
    ["Wed, 18 Nov 2026 12:00:00 GMT", "ok", "whole seconds are no difference"],
    ["Wed, 18 Nov 2026 12:00:10 GMT", "ok", "a few seconds are none that matters"],
    ["Wed, 18 Nov 2026 11:59:30 GMT", "warning", "half a minute is on the way to trouble"],
    ["Wed, 18 Nov 2026 12:02:00 GMT", "wrong", "what is signed there comes from the future"],
    ["Wed, 18 Nov 2026 11:58:00 GMT", "wrong", "what is signed here comes from the future"],
    [null, "skipped", "it does not say"],
    ["soon", "skipped", "it says nothing that is a time"],
  ])("%s is %s: %s", (date, verdict, _why) => {
    expect(checkClock(date, askedAt, askedAt + 50).verdict).toBe(verdict);
  });
});
