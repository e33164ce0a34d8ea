import { expect, test } from "vitest";
import { Turns } from "./in-turn.ts";

const never = new AbortController().signal;

test("runs with the same name are serialized, and runs with other names go in parallel", async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = turns.run("a", never, async () => {
    seen.push("a1 begins");
    await first.promise;
    seen.push("a1 ends");
  });
  const two = turns.run("a", never, async () => void seen.push("a2"));
  await turns.run("b", never, async () => void seen.push("b"));
  first.resolve();
  await Promise.all([one, two]);
  expect(seen).toEqual(["a1 begins", "b", "a1 ends", "a2"]);
});

test("a run that fails lets the next one begin", async () => {
  const turns = new Turns();
  const failed = turns.run("a", never, () => Promise.reject(new Error("no")));
  const next = turns.run("a", never, async () => "done");
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe("done");
});

test("a run that is aborted while it waits never begins, and the next one keeps waiting", async () => {
  const turns = new Turns();
  const seen: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = turns.run("a", never, () => first.promise);
  const unwanted = new AbortController();
  const two = turns.run("a", unwanted.signal, async () => void seen.push("two"));
  const three = turns.run("a", never, async () => void seen.push("three"));
  unwanted.abort(new Error("not wanted"));
  await expect(two).rejects.toThrow("not wanted");
  expect(seen).toEqual([]);
  first.resolve();
  await Promise.all([one, three]);
  expect(seen).toEqual(["three"]);
});
