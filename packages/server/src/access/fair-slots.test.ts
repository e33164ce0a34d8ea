import { expect, test } from "vitest";
import { leaveConcurrencySlot } from "@waybill/hub/serving";
import { FairSlots } from "./fair-slots.ts";

const AT_ONCE = { waited: () => undefined, begin: (_who: string, work: () => void) => work() };

test("only a bounded number of jobs runs at once, and a newcomer is next", async () => {
  let waits = 0;
  const slots = new FairSlots(2, { ...AT_ONCE, waited: () => waits++ });
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

test("a failed job frees its slot too", async () => {
  const slots = new FairSlots(1, AT_ONCE);
  await expect(slots.run("anna", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(slots.run("anna", () => Promise.resolve("yes"))).resolves.toBe("yes");
});

test("a job that has waited for a slot begins in its own turn, however short the job before it was", async () => {
  const turns: (() => void)[] = [];
  const slots = new FairSlots(1, { ...AT_ONCE, begin: (_who, work) => turns.push(work) });
  const done: number[] = [];
  const all = [0, 1, 2].map((number) => slots.run("anna", async () => done.push(number)));
  await all[0];
  for (const number of [1, 2]) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toHaveLength(number);
    expect(turns).toHaveLength(1);
    turns.shift()!();
    await all[number];
  }
  expect(done).toEqual([0, 1, 2]);
});

test("a job that waits for something else gives up its slot once, and only where that is allowed", async () => {
  for (const mayLeave of [true, false]) {
    const slots = new FairSlots(1, { ...AT_ONCE, mayLeave });
    const waiting = Promise.withResolvers<void>();
    const long = slots.run("long", async () => {
      await Promise.resolve();
      leaveConcurrencySlot();
      leaveConcurrencySlot();
      await waiting.promise;
    });
    await new Promise((resolve) => setImmediate(resolve));
    const begun: string[] = [];
    const ends = Promise.withResolvers<void>();
    const others = ["one", "two"].map((who) =>
      slots.run(who, () => {
        begun.push(who);
        return ends.promise;
      }),
    );
    expect(begun).toEqual(mayLeave ? ["one"] : []);
    waiting.resolve();
    await long;
    await new Promise((resolve) => setImmediate(resolve));
    // It had given up its slot, and has none to give up again.
    expect(begun).toEqual(["one"]);
    ends.resolve();
    await Promise.all(others);
  }
});

test("as many jobs may wait without a slot as there are slots, and further ones keep theirs", async () => {
  const slots = new FairSlots(2, { ...AT_ONCE, mayLeave: true });
  const ends = Promise.withResolvers<void>();
  const begun: string[] = [];
  const all = Array.from({ length: 6 }, (_, index) =>
    slots.run(`${index}`, async () => {
      begun.push(`${index}`);
      leaveConcurrencySlot();
      await ends.promise;
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toHaveLength(4);
  ends.resolve();
  await Promise.all(all);
  expect(begun).toHaveLength(6);
});
