import { expect, test } from "vitest";
import type { CheckBudget } from "@waybill/protocol";
import type { Clock } from "../clock.ts";
import { SchemaChecks } from "./schema-checks.ts";

/** A clock that stands still until it is told to go on to its next timer. */
function handClock(): Clock & { next(): boolean; pass(ms: number): void; readonly waited: number } {
  const timers: { at: number; callback: () => void }[] = [];
  let now = 0;
  return {
    now: () => now,
    setTimer(at, callback) {
      timers.push({ at, callback });
      return () => undefined;
    },
    next() {
      const timer = timers.shift();
      if (timer === undefined) return false;
      now = timer.at;
      timer.callback();
      return true;
    },
    pass(ms) {
      now += ms;
    },
    get waited() {
      return now;
    },
  };
}

/** So many checks of so many steps each; what was done is written down under a name. */
function* checks(
  budget: CheckBudget,
  { name, count, steps }: { name: string; count: number; steps: number },
  done: string[],
): Generator<void, string> {
  for (let number = 0; number < count; number++) {
    budget.stepsLeft -= steps;
    done.push(name);
    yield;
  }
  return name;
}

test("40: checks that cost little are done at once", async () => {
  const clock = handClock();
  const budget = { stepsLeft: 1_000_000 };
  const done: string[] = [];
  const all = checks(budget, { name: "a", count: 10, steps: 1_000 }, done);
  await expect(new SchemaChecks(clock).run("a", budget, all)).resolves.toBe("a");
  expect(clock.next()).toBe(false);
});

test("checks that cost little never wait, however many there were before", async () => {
  const turns = new SchemaChecks(handClock());
  for (let query = 0; query < 1_000; query++) {
    const budget = { stepsLeft: 20_000 };
    const one = checks(budget, { name: "a", count: 1, steps: 10_000 }, []);
    await expect(turns.run("a", budget, one)).resolves.toBe("a");
  }
});

test("40: a costly query leaves the event loop free for twice as long as it has taken it", async () => {
  const clock = handClock();
  const budget = { stepsLeft: 20_000_000 };
  const done: string[] = [];
  const all = checks(budget, { name: "a", count: 20, steps: 1_000_000 }, done);
  const result = new SchemaChecks(clock).run("a", budget, all);
  let most = done.length;
  for (let before = done.length; clock.next(); before = done.length) {
    most = Math.max(most, done.length - before);
  }
  await expect(result).resolves.toBe("a");
  expect(most).toBe(1);
  // 20,000,000 steps take some 167 ms.
  expect(clock.waited).toBeGreaterThanOrEqual(2 * 167);
});

test("40: on a slow machine the event loop is left free for twice as long as the checks really took", () => {
  const clock = handClock();
  const budget = { stepsLeft: 20_000_000 };
  const slow = (function* (): Generator<void, void> {
    budget.stepsLeft -= 600_000;
    clock.pass(1_000);
    yield;
  })();
  void new SchemaChecks(clock).run("a", budget, slow);
  clock.next();
  expect(clock.waited).toBe(3_000);
});

test("40: who asks for little is not behind one who asks for much", async () => {
  const clock = handClock();
  const turns = new SchemaChecks(clock);
  const done: string[] = [];
  for (let query = 0; query < 50; query++) {
    const budget = { stepsLeft: 20_000_000 };
    const all = checks(budget, { name: "much", count: 20, steps: 1_000_000 }, done);
    void turns.run("much", budget, all);
  }
  clock.next();
  const budget = { stepsLeft: 20_000_000 };
  const little = checks(budget, { name: "little", count: 1, steps: 1_000 }, done);
  const result = turns.run("little", budget, little);
  clock.next();
  await expect(result).resolves.toBe("little");
});

test("a check that throws fails its own query alone", async () => {
  const clock = handClock();
  const turns = new SchemaChecks(clock);
  const budget = { stepsLeft: 1_000 };
  // oxlint-disable-next-line require-yield
  const broken = (function* (): Generator<void, string> {
    throw new Error("broken");
  })();
  await expect(turns.run("a", budget, broken)).rejects.toThrow("broken");
  const sound = checks(budget, { name: "b", count: 1, steps: 1 }, []);
  await expect(turns.run("a", budget, sound)).resolves.toBe("b");
});
