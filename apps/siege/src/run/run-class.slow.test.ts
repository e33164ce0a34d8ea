/// <reference types="node" />
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { AttackClass } from "../attack-class.ts";
import { judge } from "./judge.ts";
import type { Problem } from "./judge.ts";
import { runClass } from "./run-class.ts";

const program = fileURLToPath(new URL("attack-fixture.ts", import.meta.url));

/** The problems that the siege finds in a hub with a weakness that this attack exploits. */
async function foundBy(name: string, lands: readonly string[]): Promise<readonly Problem[]> {
  const attackClass: AttackClass = {
    name,
    does: "asks for it once",
    lands,
    hub: { preload: "run/weak-hub-fixture.ts" },
    run: () => Promise.resolve(),
  };
  const facts = await runClass(attackClass, { seconds: 1, quietP99: 1, program });
  return judge(facts, attackClass);
}

const saying = (text: RegExp): unknown =>
  expect.objectContaining({ says: expect.stringMatching(text) as string });
/** The machine may be slow. */
const notOfTime = (problems: readonly Problem[]): readonly Problem[] =>
  problems.filter(({ of }) => of !== "time");

test("an attack that finds no weakness is survived", async () => {
  expect(notOfTime(await foundBy("nothing", ["404"]))).toEqual([]);
});

test("a blocked event loop is detected by the honest p99", async () => {
  expect(await foundBy("freeze", ["404"])).toContainEqual(
    saying(/^the honest p99 was \d+ ms, and the bound is 500 ms$/),
  );
});

test("retained memory is detected", async () => {
  expect(await foundBy("memory", ["404"])).toContainEqual(saying(/^it took \d+ MB$/));
});

test("a crash is detected", async () => {
  expect(await foundBy("crash", ["cut"])).toContainEqual(saying(/^the hub crashed 1 times/));
});

test("an attack that does not reach its target is a failure of the siege", async () => {
  expect(await foundBy("nothing", ["200"])).toContainEqual(
    saying(/did not get as far as "200"; it met 1 × 404$/),
  );
});
