import { expect, test } from "vitest";
import { RecentIds } from "./recent-ids.ts";

test("knows at least as many names as it is to keep, and at most twice as many", () => {
  const lately = new RecentIds(3);
  const known = (added: number) =>
    Array.from({ length: added }, (_, name) => name).filter((name) => lately.has(`${name}`));
  for (let added = 1; added <= 20; added++) {
    lately.add(`${added - 1}`);
    const names = known(added);
    expect(names.at(-1)).toBe(added - 1);
    expect(names.length).toBeGreaterThanOrEqual(Math.min(added, 3));
    expect(names.length).toBeLessThanOrEqual(6);
  }
});

test("a name that comes again is kept for as long as one that is new", () => {
  const lately = new RecentIds(2);
  for (const name of ["a", "b", "a", "c"]) lately.add(name);
  expect(lately.has("a")).toBe(true);
});
