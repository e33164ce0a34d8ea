import { expect, test } from "vitest";
import { DeadlineTimer } from "./deadline-timer.ts";
import { StillClock } from "./still-clock-fixture.ts";

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("the earliest of the noted times counts, and a later one changes nothing", async () => {
  const clock = new StillClock();
  const start = clock.now();
  const looked: number[] = [];
  const timer = new DeadlineTimer(clock, () => void looked.push(clock.now() - start));
  timer.note(start + 50);
  timer.note(start + 20);
  timer.note(start + 90);
  clock.advance(19);
  expect(looked).toEqual([]);
  clock.advance(1);
  expect(looked).toEqual([20]);
  await settled();
  clock.advance(100);
  expect(looked).toEqual([20]);
});

test("a time that comes while it looks at what is due makes it look once more", async () => {
  const clock = new StillClock();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [looks, atOnce] = [0, 0];
  const timer = new DeadlineTimer(clock, async () => {
    expect(++atOnce).toBe(1);
    await gates[looks++]!.promise;
    atOnce--;
  });
  timer.note(clock.now() + 10);
  clock.advance(10);
  for (const ms of [1, 2]) {
    timer.note(clock.now() + ms);
    clock.advance(ms);
  }
  expect(looks).toBe(1);
  gates[0]!.resolve();
  await settled();
  expect(looks).toBe(2);
  gates[1]!.resolve();
  await timer.stop();
  expect(looks).toBe(2);
});

test("nothing is due after it was cleared or stopped, until a time is noted again", async () => {
  const clock = new StillClock();
  let looks = 0;
  const timer = new DeadlineTimer(clock, () => void looks++);
  timer.note(clock.now() + 10);
  timer.clear();
  clock.advance(20);
  expect(looks).toBe(0);
  timer.note(clock.now() + 10);
  clock.advance(10);
  expect(looks).toBe(1);
  await timer.stop();
  timer.note(clock.now() + 10);
  clock.advance(20);
  expect(looks).toBe(1);
});
