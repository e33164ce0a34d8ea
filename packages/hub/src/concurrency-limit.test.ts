import { expect, test } from "vitest";
import { ConcurrencyLimit } from "./concurrency-limit.ts";

interface Job {
  readonly done: Promise<string>;
  readonly end: () => void;
}

function jobsOf(few: ConcurrencyLimit, name: string, count: number, begun: string[]): Job[] {
  return Array.from({ length: count }, (_, index) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const job = `${name} ${index}`;
    const done = few.run(name, async () => {
      begun.push(job);
      await promise;
      return job;
    });
    return { done, end: resolve };
  });
}

test("each owner has a few jobs under way, and its next job begins when one of them has ended", async () => {
  const few = new ConcurrencyLimit(2);
  const begun: string[] = [];
  const anna = jobsOf(few, "anna", 4, begun);
  const bert = jobsOf(few, "bert", 1, begun);
  expect(begun).toEqual(["anna 0", "anna 1", "bert 0"]);
  bert[0]!.end();
  await expect(bert[0]!.done).resolves.toBe("bert 0");
  expect(begun).toHaveLength(3);
  for (const [index, { done, end }] of anna.entries()) {
    end();
    await expect(done).resolves.toBe(`anna ${index}`);
  }
  expect(begun.slice(3)).toEqual(["anna 2", "anna 3"]);
});

test("a failed job frees its place, and all places are free at the end", async () => {
  const few = new ConcurrencyLimit(1);
  const failing = few.run("anna", () => Promise.reject(new Error("no")));
  const next = few.run("anna", () => Promise.resolve("yes"));
  await expect(failing).rejects.toThrow("no");
  await expect(next).resolves.toBe("yes");
  await expect(few.run("anna", () => Promise.resolve("again"))).resolves.toBe("again");
});
