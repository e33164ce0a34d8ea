import { expect, test } from "vitest";
import type { CheckBudget } from "@waybill/protocol";
import { inConcurrencySlot } from "../concurrency-slot.ts";
import { handClock } from "./hand-clock-fixture.ts";
import { SchemaChecks } from "./schema-checks.ts";

/** That many checks of that many steps each; completed ones are recorded under a name. */
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

test("40: cheap checks are done at once", async () => {
  const clock = handClock();
  const budget = { stepsLeft: 1_000_000 };
  const done: string[] = [];
  const all = checks(budget, { name: "a", count: 10, steps: 1_000 }, done);
  await expect(new SchemaChecks(clock).run("a", budget, all)).resolves.toBe("a");
  expect(clock.next()).toBe(false);
});

test("cheap checks never wait, however many there were before", async () => {
  const turns = new SchemaChecks(handClock());
  for (let query = 0; query < 1_000; query++) {
    const budget = { stepsLeft: 20_000 };
    const one = checks(budget, { name: "a", count: 1, steps: 10_000 }, []);
    await expect(turns.run("a", budget, one)).resolves.toBe("a");
  }
});

test("40: after a costly query the event loop is free for twice as long as the query has taken", async () => {
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

test("40: on a slow machine the event loop is free for twice as long as the checks actually took", () => {
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

test("40: a client that asks for little does not wait behind one that asks for much", async () => {
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

test("a check that throws fails its own query only", async () => {
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

test.each([6_000, 10_000, 20_000])(
  "40: checks of %i steps that arrive at the end of a turn are not lost",
  async (steps) => {
    const clock = handClock();
    const turns = new SchemaChecks(clock);
    const done: string[] = [];
    const first = { stepsLeft: 1_000_000 };
    await turns.run("a", first, checks(first, { name: "a", count: 1, steps: 490_000 }, done));
    const names = ["b", "c"];
    const settled: string[] = [];
    for (const name of names) {
      const budget = { stepsLeft: 1_000_000 };
      const slices = checks(budget, { name, count: 3, steps }, done);
      void turns.run(name, budget, slices).then((given) => settled.push(given));
    }
    do {
      await new Promise((resolve) => setImmediate(resolve));
    } while (clock.next());
    expect(settled.toSorted()).toEqual(names);
  },
);

test("40: checks that have to wait give up the slot of their call, and checks that end at once do not", async () => {
  const clock = handClock();
  const all = new SchemaChecks(clock);
  const left: string[] = [];
  const call = (who: string, steps: number): Promise<string> => {
    const budget = { stepsLeft: 2_000_000 };
    const slices = checks(budget, { name: who, count: 3, steps }, []);
    return inConcurrencySlot(
      () => void left.push(who),
      () => all.run(who, budget, slices),
    );
  };
  await call("little", 100);
  const long = [call("costly", 400_000), call("behind it", 100)];
  expect(new Set(left)).toEqual(new Set(["costly", "behind it"]));
  do {
    await new Promise((resolve) => setImmediate(resolve));
  } while (clock.next());
  expect(await Promise.all(long)).toEqual(["costly", "behind it"]);
});

test("40: an agent's costly queries are checked one after another, and those of newcomers take turns", async () => {
  const underWay = async (who: string): Promise<number> => {
    const clock = handClock();
    const turns = new SchemaChecks(clock);
    const done: string[] = [];
    const all = ["a", "b", "c"].map((name) => {
      const budget = { stepsLeft: 10_000_000 };
      return turns.run(who, budget, checks(budget, { name, count: 5, steps: 1_000_000 }, done));
    });
    let most = 0;
    while (clock.next()) {
      const open = ["a", "b", "c"].filter((name) => {
        const count = done.filter((each) => each === name).length;
        return count > 0 && count < 5;
      });
      most = Math.max(most, open.length);
    }
    await Promise.all(all);
    return most;
  };
  await expect(underWay("anna")).resolves.toBe(1);
  await expect(underWay("(newcomers)")).resolves.toBe(3);
});
