import { expect, test } from "vitest";
import { WaybillError } from "@waybill/protocol";
import type { CheckBudget } from "@waybill/protocol";
import { HUB_LIMITS } from "../engine/options.ts";
import { handClock } from "./hand-clock-fixture.ts";
import { SchemaChecks } from "./schema-checks.ts";

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
  await expect(new SchemaChecks(clock, HUB_LIMITS).run("a", budget, all)).resolves.toBe("a");
  expect(clock.next()).toBe(false);
});

test("checks that cost little never wait, however many there were before", async () => {
  const turns = new SchemaChecks(handClock(), HUB_LIMITS);
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
  const result = new SchemaChecks(clock, HUB_LIMITS).run("a", budget, all);
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
  void new SchemaChecks(clock, HUB_LIMITS).run("a", budget, slow);
  clock.next();
  expect(clock.waited).toBe(3_000);
});

test("40: who asks for little is not behind one who asks for much", async () => {
  const clock = handClock();
  const turns = new SchemaChecks(clock, HUB_LIMITS);
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
  const turns = new SchemaChecks(clock, HUB_LIMITS);
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
  "40: checks of %i steps that come when a turn is nearly over are not forgotten",
  async (steps) => {
    const clock = handClock();
    const turns = new SchemaChecks(clock, HUB_LIMITS);
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

/** Starts so many queries that each take several turns, and writes down how each of them ends. */
function ask(
  checksOfHub: SchemaChecks,
  { who, count, mayBeRefused = true }: { who: string; count: number; mayBeRefused?: boolean },
): { readonly ended: string[] } {
  const ended: string[] = [];
  for (let number = 0; number < count; number++) {
    const budget = { stepsLeft: 2_000_000 };
    const slices = checks(budget, { name: `${who} ${number}`, count: 3, steps: 400_000 }, []);
    checksOfHub.run(who, budget, slices, { mayBeRefused }).then(
      (name) => ended.push(name),
      (error: unknown) => ended.push(`${number} ${WaybillError.from(error).status}`),
    );
  }
  return { ended };
}

test("40: an agent has a bounded number of checks waiting, and what is more is told to come again", async () => {
  const clock = handClock();
  const limits = { checksPerAgent: 2, checksPerHub: 100 };
  const all = new SchemaChecks(clock, limits);
  const { ended } = ask(all, { who: "much", count: 5 });
  const little = ask(all, { who: "little", count: 1 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toEqual(["2 301", "3 301", "4 301"]);
  expect(all.isFullFor("much")).toBe(true);
  while (clock.next()) await new Promise((resolve) => setImmediate(resolve));
  expect(ended.slice(3)).toEqual(["much 0", "much 1"]);
  expect(little.ended).toEqual(["little 0"]);
  expect(all.isFullFor("much")).toBe(false);
});

test("40: where the hub has too many checks waiting, whoever has the most loses what came last", async () => {
  const clock = handClock();
  const all = new SchemaChecks(clock, { checksPerAgent: 10, checksPerHub: 4 });
  const much = ask(all, { who: "much", count: 3 });
  const other = ask(all, { who: "other", count: 1 });
  const [one, two] = ["one", "two"].map((who) => ask(all, { who, count: 1 }));
  await new Promise((resolve) => setImmediate(resolve));
  expect(much.ended).toEqual(["2 301", "1 301"]);
  while (clock.next()) await new Promise((resolve) => setImmediate(resolve));
  expect([other, one!, two!].map(({ ended }) => ended)).toEqual([
    ["other 0"],
    ["one 0"],
    ["two 0"],
  ]);
  expect(much.ended.at(-1)).toBe("much 0");
});

test("checks that nobody can be told to repeat are never refused, and count all the same", async () => {
  const clock = handClock();
  const all = new SchemaChecks(clock, { checksPerAgent: 2, checksPerHub: 3 });
  const { ended } = ask(all, { who: "hub", count: 5, mayBeRefused: false });
  expect(all.isFullFor("hub")).toBe(true);
  do {
    await new Promise((resolve) => setImmediate(resolve));
  } while (clock.next());
  expect(ended.toSorted()).toEqual(["hub 0", "hub 1", "hub 2", "hub 3", "hub 4"]);
});
