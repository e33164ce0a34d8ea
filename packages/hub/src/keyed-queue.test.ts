import { expect, test } from "vitest";
import { KeyedQueue } from "./keyed-queue.ts";

test("the tasks of one key run one at a time, in order, and after failures too", async () => {
  const queue = new KeyedQueue();
  const log: string[] = [];
  const task = (name: string, fails = false) =>
    queue.run("a", async () => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
    });
  const first = task("1", true);
  const second = task("2");
  await expect(first).rejects.toThrow("1");
  await second;
  expect(log).toEqual(["1 begins", "1 ends", "2 begins", "2 ends"]);
});

test("keys do not wait for each other, and the queue is idle when all tasks are done", async () => {
  const queue = new KeyedQueue();
  let open: () => void = () => undefined;
  const held = queue.run("a", () => new Promise<void>((resolve) => (open = resolve)));
  await queue.run("b", () => Promise.resolve());
  open();
  await queue.idle();
  await held;
});
