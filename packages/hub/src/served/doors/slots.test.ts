import { expect, test } from "vitest";
import { Slots } from "./slots.ts";

test("only so many are under way at once, and a newcomer is next", async () => {
  let waits = 0;
  const slots = new Slots(2, () => waits++);
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const work = (who: string) =>
    slots.run(who, () => {
      begun.push(who);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = Array.from({ length: 6 }, () => work("heavy"));
  expect(begun).toHaveLength(2);
  ends.shift()!();
  await all[0];
  await Promise.resolve();
  all.push(work("light"));
  ends.shift()!();
  await all[1];
  await Promise.resolve();
  expect(begun).toEqual(["heavy", "heavy", "heavy", "light"]);
  while (ends.length > 0) {
    ends.shift()!();
    await new Promise((resolve) => queueMicrotask(() => queueMicrotask(() => resolve(undefined))));
  }
  await Promise.all(all);
  expect(waits).toBe(5);
});

test("what fails leaves its place too", async () => {
  const slots = new Slots(1, () => undefined);
  await expect(slots.run("anna", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(slots.run("anna", () => Promise.resolve("yes"))).resolves.toBe("yes");
});
