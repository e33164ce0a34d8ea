import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.ts";

function drained(queue: FairQueue<string>, cost: (job: string) => number = () => 1): string[] {
  const jobs: string[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) {
    queue.charge(next.name, cost(next.job));
    jobs.push(next.job);
  }
  return jobs;
}

test("a client with little to do is next, whatever others have queued", () => {
  const queue = new FairQueue<string>();
  for (let count = 0; count < 5; count++) queue.push("heavy", `heavy ${count}`);
  queue.charge("heavy", 1);
  queue.push("light", "light");
  expect(drained(queue)[0]).toBe("light");
  expect(queue.isEmpty).toBe(true);
});

test("every client gets an equal share, whatever each job costs", () => {
  const queue = new FairQueue<string>();
  for (let count = 0; count < 3; count++) queue.push("large", "large");
  for (let count = 0; count < 12; count++) queue.push("small", "small");
  const jobs = drained(queue, (job) => (job === "large" ? 4 : 1));
  expect(jobs.join(" ")).toBe(
    "large small small small small large small small small small large small small small small",
  );
});

test("the jobs of one client keep their order", () => {
  const queue = new FairQueue<string>();
  for (const job of ["1", "2", "3"]) queue.push("one", job);
  expect(drained(queue)).toEqual(["1", "2", "3"]);
});

test("a pause earns no credit, and leaving the queue clears no debt", () => {
  const queue = new FairQueue<string>();
  queue.push("late", "late 0");
  expect(drained(queue)).toEqual(["late 0"]);
  for (let count = 0; count < 50; count++) queue.push("busy", "busy");
  expect(drained(queue)).toHaveLength(50);
  // The one has been away, the other returns at once: they alternate from here on.
  for (let count = 1; count <= 3; count++) {
    queue.push("busy", `busy ${count}`);
    queue.push("late", `late ${count}`);
  }
  expect(drained(queue)[0]).toBe("late 1");
  queue.push("busy", "busy");
  queue.push("late", "late");
  expect(drained(queue)).toHaveLength(2);
});

test("work done while nobody waits is not charged", () => {
  const queue = new FairQueue<string>();
  for (let count = 0; count < 1_000; count++) queue.charge("old", 1);
  for (let count = 0; count < 3; count++) {
    queue.push("old", "old");
    queue.push("new", "new");
  }
  expect(drained(queue)).toEqual(["new", "old", "new", "old", "new", "old"]);
});

test("a job that is put first precedes the other jobs of its client, and nobody else's", () => {
  const queue = new FairQueue<string>();
  queue.push("anna", "second");
  queue.pushFirst("anna", "first");
  queue.pushFirst("bert", "only");
  queue.charge("anna", 1);
  expect(drained(queue)).toEqual(["only", "first", "second"]);
});
