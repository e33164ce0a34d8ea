import { expect, test } from "vitest";
import { BoundedCache } from "./bounded-cache.ts";

test("what was not asked for the longest is forgotten first, by weight", () => {
  const recent = new BoundedCache<string, string>(4, (text) => text.length);
  recent.set("a", "xx");
  recent.set("b", "xx");
  expect(recent.get("a")).toBe("xx");
  recent.set("c", "x");
  expect(recent.get("b")).toBeUndefined();
  expect(recent.get("a")).toBe("xx");
  recent.set("a", "xxxx");
  expect(recent.get("c")).toBeUndefined();
  recent.set("d", "far too heavy");
  expect(recent.get("d")).toBeUndefined();
});
