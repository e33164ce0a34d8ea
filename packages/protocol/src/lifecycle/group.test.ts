import { expect, test } from "vitest";
import { isGroupOver, judgeGroup } from "./group.ts";
import type { JoinRule } from "./group.ts";
import type { HandoffState } from "./transitions.ts";

const states: Record<string, HandoffState> = {
  o: "open",
  c: "completed",
  f: "failed",
  x: "cancelled",
  d: "dead_lettered",
};

test.each<[Omit<JoinRule, "size">, string, string]>([
  [{ join: "all" }, "ccc", "reached"],
  [{ join: "all" }, "cco", "open"],
  [{ join: "all" }, "cc", "open"],
  [{ join: "all" }, "cof", "failed"],
  [{ join: "all" }, "x", "failed"],
  [{ join: "any" }, "oco", "reached"],
  [{ join: "any" }, "ofd", "open"],
  [{ join: "any" }, "fd", "open"],
  [{ join: "any" }, "fdx", "failed"],
  [{ join: "quorum", quorum: 2 }, "coc", "reached"],
  [{ join: "quorum", quorum: 2 }, "cod", "open"],
  [{ join: "quorum", quorum: 2 }, "cff", "failed"],
])("%j of %s is %s", (rule, members, verdict) => {
  const all = [...members].map((letter) => states[letter]!);
  expect(judgeGroup(all, { ...rule, size: 3 })).toBe(verdict);
});

test("a failed group is over, unless its delegator wants the remaining results", () => {
  expect(isGroupOver("reached", "wait")).toBe(true);
  expect(isGroupOver("failed", undefined)).toBe(true);
  expect(isGroupOver("failed", "cancel")).toBe(true);
  expect(isGroupOver("failed", "wait")).toBe(false);
  expect(isGroupOver("open", "cancel")).toBe(false);
});
