import { expect, test } from "vitest";
import { Backlog } from "./backlog.ts";

function held(workersAtMost: number) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const backlog = new Backlog(workersAtMost, (id) => {
    begun.push(id);
    return new Promise((resolve) => ends.set(id, resolve));
  });
  const end = async (id: string): Promise<void> => {
    ends.get(id)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { backlog, begun, end };
}

test("a few ids of each owner are processed at a time, and all of them in the end", async () => {
  const { backlog, begun, end } = held(2);
  for (const id of ["a1", "a2", "a3", "a4"]) backlog.add("anna", id);
  backlog.add("bert", "b1");
  expect(begun).toEqual(["a1", "a2", "b1"]);
  await end("a2");
  expect(begun.slice(3)).toEqual(["a3"]);
  for (const id of ["a1", "a3", "b1"]) await end(id);
  expect(begun.slice(4)).toEqual(["a4"]);
  await end("a4");
  backlog.add("anna", "a5");
  expect(begun.at(-1)).toBe("a5");
});

test("a waiting id is not added twice, and one that is being processed is", async () => {
  const { backlog, begun, end } = held(1);
  for (const id of ["a1", "a2", "a2", "a1"]) backlog.add("anna", id);
  for (const id of ["a1", "a2", "a1"]) await end(id);
  expect(begun).toEqual(["a1", "a2", "a1"]);
});

test("nothing starts after closing", async () => {
  const { backlog, begun, end } = held(1);
  for (const id of ["a1", "a2"]) backlog.add("anna", id);
  backlog.close();
  backlog.add("bert", "b1");
  await end("a1");
  expect(begun).toEqual(["a1"]);
});
