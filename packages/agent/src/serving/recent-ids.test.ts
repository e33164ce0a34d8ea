import { expect, test } from "vitest";
import { RecentIds } from "./recent-ids.ts";

test("keeps at least the given number of ids, and at most twice as many", () => {
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

test("an id that is added again is kept as long as a new one", () => {
  const lately = new RecentIds(2);
  for (const name of ["a", "b", "a", "c"]) lately.add(name);
  expect(lately.has("a")).toBe(true);
});
