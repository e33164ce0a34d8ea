/// <reference types="node" />
import { expect, test } from "vitest";
import { Turns } from "./turns.ts";

/** One job a turn: whatever else there is has to wait. */
const ONE_AT_A_TIME_MS = 1e-9;

async function allDone(done: readonly string[], count: number): Promise<void> {
  while (done.length < count) await new Promise((resolve) => setImmediate(resolve));
}

test("where nobody waits everything is done at once", () => {
  const turns = new Turns(1_000, () => expect.unreachable());
  const done: string[] = [];
  turns.run("anna", () => done.push("anna"));
  turns.runForStranger("1.1.1.1", () => done.push("stranger"));
  expect(done).toEqual(["anna", "stranger"]);
});

test("an agent that asks little is not behind one that asks much", async () => {
  let waits = 0;
  const turns = new Turns(ONE_AT_A_TIME_MS, () => waits++);
  const done: string[] = [];
  for (let count = 0; count < 100; count++) turns.run("heavy", () => done.push("heavy"));
  turns.run("light", () => done.push("light"));
  await allDone(done, 101);
  expect(done.indexOf("light")).toBeLessThanOrEqual(2);
  expect(waits).toBe(100);
});

test("strangers count as one agent together, and each address as much as another", async () => {
  const turns = new Turns(ONE_AT_A_TIME_MS, () => undefined);
  const done: string[] = [];
  for (let count = 0; count < 50; count++) {
    for (const address of ["a", "b", "c", "d"]) {
      turns.runForStranger(address, () => done.push(address));
    }
  }
  for (let count = 0; count < 20; count++) turns.run("agent", () => done.push("agent"));
  turns.runForStranger("new", () => done.push("new"));
  await allDone(done, 221);
  // A job costs some time more or less: what is compared is far apart.
  const strangersBefore = done.lastIndexOf("agent") + 1 - 20;
  expect(strangersBefore).toBeLessThan(150);
  expect(done.indexOf("new")).toBeLessThan(100);
});
