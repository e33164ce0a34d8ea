import { expect, test } from "vitest";
import { FairBytes } from "./fair-bytes.ts";

test("work enters until the limit is reached, and the last one may exceed it", () => {
  let waits = 0;
  const bytes = new FairBytes(100, () => waits++);
  const entered: string[] = [];
  const enter = (who: string, count: number) => bytes.enter(who, count, () => entered.push(who));
  enter("anna", 60);
  enter("berta", 60);
  enter("carla", 60);
  expect(entered).toEqual(["anna", "berta"]);
  expect(waits).toBe(1);
  bytes.leave(20);
  expect(entered).toEqual(["anna", "berta"]);
  bytes.leave(1);
  expect(entered).toEqual(["anna", "berta", "carla"]);
});

test("what is larger than the limit enters alone", () => {
  const bytes = new FairBytes(100, () => undefined);
  const entered: number[] = [];
  for (const count of [1_000, 2_000]) bytes.enter("anna", count, () => entered.push(count));
  expect(entered).toEqual([1_000]);
  bytes.leave(1_000);
  expect(entered).toEqual([1_000, 2_000]);
});

test("the client that has had the fewest bytes is next", () => {
  const bytes = new FairBytes(1, () => undefined);
  const entered: string[] = [];
  const enter = (who: string, count: number) => bytes.enter(who, count, () => entered.push(who));
  for (let count = 0; count < 4; count++) enter("heavy", 10);
  enter("light", 10);
  for (let count = 0; count < 4; count++) bytes.leave(10);
  expect(entered).toEqual(["heavy", "light", "heavy", "heavy", "heavy"]);
});
