import { expect, test } from "vitest";
import { CLASSES } from "../classes.ts";
import { isUnsafe } from "../report.ts";
import { NOTHING } from "./facts.ts";
import type { Facts } from "./facts.ts";
import { mayBeOfABusyMachine, mayBeOfANoisyMachine } from "./judge.ts";
import type { RunOptions } from "./run-class.ts";
import { tryClass } from "./trial.ts";

const attackClass = { ...CLASSES[0]!, lands: ["sent"], never: [] };
const phase = { ...NOTHING.attacked, made: 1, completed: 1 };
const good: Facts = {
  ...NOTHING,
  attacked: phase,
  afterwards: phase,
  restarted: phase,
  answers: true,
  answersAgain: true,
  tally: { sent: 1 },
};
const options = { seconds: 2, quietP99: 10, hasSecondTry: mayBeOfABusyMachine };
const noisy = { ...options, hasSecondTry: mayBeOfANoisyMachine };

/** Returns one set of facts after the other, and records the duration of each attack. */
function running(...facts: Facts[]) {
  const seconds: number[] = [];
  const run = (_class: unknown, given: RunOptions): Promise<Facts> => {
    seconds.push(given.seconds);
    return Promise.resolve(facts.shift()!);
  };
  return { run, seconds };
}

test.each<[string, Partial<Facts>]>([
  ["was late", { attacked: { ...phase, p99: 60_000 } }],
  ["did not get where it aims at", { tally: {} }],
  ["left a newcomer without a result", { newcomer: Infinity }],
])("an attack that %s is run again, three times as long", async (_what, facts) => {
  const { run, seconds } = running({ ...good, ...facts }, good);
  const row = await tryClass(attackClass, options, run);
  expect(row).toMatchObject({ isSecond: true, problems: [] });
  expect(seconds).toEqual([2, 6]);
});

test("too much memory gets no second run", async () => {
  const { run, seconds } = running({ ...good, tally: {}, peakMb: 600 });
  const row = await tryClass(attackClass, options, run);
  expect(row.isSecond).toBe(false);
  expect(row.problems.map(({ says }) => says)).toContain("it took 600 MB");
  expect(seconds).toEqual([2]);
});

test("on a noisy machine too much memory fails only if a second run takes too much again", async () => {
  const once = running({ ...good, peakMb: 600 }, good);
  const passed = await tryClass(attackClass, noisy, once.run);
  expect(passed).toMatchObject({ isSecond: true, problems: [] });
  expect(once.seconds).toEqual([2, 6]);
  const twice = running({ ...good, peakMb: 600 }, { ...good, restartedMb: 601 });
  const failed = await tryClass(attackClass, noisy, twice.run);
  expect(failed.problems).toEqual([{ of: "memory", says: "after its restart it took 601 MB" }]);
  expect(isUnsafe(failed)).toBe(true);
});

test("a crash gets no second run on any machine", async () => {
  const { run, seconds } = running({ ...good, peakMb: 600, crashes: 1 });
  expect((await tryClass(attackClass, noisy, run)).isSecond).toBe(false);
  expect(seconds).toEqual([2]);
});

test("a class that can't be run has failed, with the reason", async () => {
  const row = await tryClass(attackClass, options, () =>
    Promise.reject(new Error("only root may mount")),
  );
  expect(row.problems).toEqual([
    { of: "safety", says: "it could not be run here: only root may mount" },
  ]);
});
