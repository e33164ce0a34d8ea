/// <reference types="node" />
import { expect, test } from "vitest";
import { FairScheduler } from "./fair-scheduler.ts";

/** One job a turn: everything else has to wait. */
const ONE_AT_A_TIME_MS = 1e-9;

async function allDone(done: readonly string[], count: number): Promise<void> {
  while (done.length < count) await new Promise((resolve) => setImmediate(resolve));
}

/** Everything that is due in this turn of the event loop. */
async function restOfTurn(): Promise<void> {
  await new Promise<void>((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}

test("a job without others waiting is done at once, and the next one in the same turn", async () => {
  const turns = new FairScheduler(1_000, () => expect.unreachable());
  const done: string[] = [];
  turns.run("anna", () => done.push("anna"));
  expect(done).toEqual(["anna"]);
  turns.runForStranger("1.1.1.1", () => done.push("stranger"));
  await restOfTurn();
  expect(done).toEqual(["anna", "stranger"]);
});

test("promise reactions of a job belong to it, and run before the next job begins", async () => {
  let now = 0;
  let waits = 0;
  const turns = new FairScheduler(
    10,
    () => waits++,
    () => now,
  );
  const done: string[] = [];
  const work = (name: string) => async () => {
    await Promise.resolve();
    await Promise.resolve();
    now += 4;
    done.push(name);
  };
  for (let number = 0; number < 8; number++) turns.run("anna", () => void work(`${number}`)());
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual([]);
  const counts: number[] = [];
  while (done.length < 8) {
    await turn();
    counts.push(done.length);
  }
  expect(done).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
  // Three of 4 ms each are more than 10 ms.
  expect(counts).toEqual([3, 6, 8]);
  expect(waits).toBe(2);
});

test("a job that throws does not block the next one", async () => {
  const turns = new FairScheduler(1_000, () => undefined);
  const done: string[] = [];
  expect(() =>
    turns.run("anna", () => {
      throw new Error("no");
    }),
  ).toThrow("no");
  turns.run("berta", () => done.push("berta"));
  await allDone(done, 1);
});

test("an agent that asks little does not wait behind one that asks much", async () => {
  let waits = 0;
  let now = 0;
  const turns = new FairScheduler(
    ONE_AT_A_TIME_MS,
    () => waits++,
    () => now++,
  );
  const done: string[] = [];
  for (let count = 0; count < 100; count++) turns.run("heavy", () => done.push("heavy"));
  turns.run("light", () => done.push("light"));
  await allDone(done, 101);
  expect(done.indexOf("light")).toBeLessThanOrEqual(2);
  expect(waits).toBe(100);
});

test("all strangers together count as one agent, and each address as much as another", async () => {
  let now = 0;
  const turns = new FairScheduler(
    ONE_AT_A_TIME_MS,
    () => undefined,
    () => now++,
  );
  const done: string[] = [];
  for (let count = 0; count < 50; count++) {
    for (const address of ["a", "b", "c", "d"]) {
      turns.runForStranger(address, () => done.push(address));
    }
  }
  for (let count = 0; count < 20; count++) turns.run("agent", () => done.push("agent"));
  turns.runForStranger("new", () => done.push("new"));
  await allDone(done, 221);
  // Every job costs the same: strangers and the agent alternate, and so do the five addresses.
  const strangersBefore = done.lastIndexOf("agent") + 1 - 20;
  expect(strangersBefore).toBeLessThanOrEqual(21);
  expect(done.indexOf("new")).toBeLessThanOrEqual(12);
});

test("all transfers together count as one agent, and each agent's as much as another's", async () => {
  let now = 0;
  const turns = new FairScheduler(
    ONE_AT_A_TIME_MS,
    () => undefined,
    () => now++,
  );
  const done: string[] = [];
  for (let count = 0; count < 20; count++) {
    for (const agent of ["a", "b", "c", "d"])
      void turns.nextPiece(agent).then(() => done.push(agent));
  }
  for (let count = 0; count < 20; count++) turns.run("messages", () => done.push("messages"));
  void turns.nextPiece("new").then(() => done.push("new"));
  await allDone(done, 101);
  const piecesBefore = done.lastIndexOf("messages") + 1 - 20;
  expect(piecesBefore).toBeLessThanOrEqual(21);
  expect(done.indexOf("new")).toBeLessThanOrEqual(12);
});
