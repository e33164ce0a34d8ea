import type { AttackClass } from "../attack-class.ts";
import type { Facts } from "./facts.ts";
import { judge } from "./judge.ts";
import type { Problem } from "./judge.ts";
import { runClass } from "./run-class.ts";
import type { RunOptions } from "./run-class.ts";

export interface Row {
  readonly attackClass: AttackClass;
  readonly facts: Facts;
  readonly problems: readonly Problem[];
  /** A first run was over the bounds of latency alone, and this is the second one. */
  readonly isSecond: boolean;
}

/** Runs a class, and once more where nothing but latency was wrong: the machine may have been busy. */
export async function tryClass(attackClass: AttackClass, options: RunOptions): Promise<Row> {
  const facts = await runClass(attackClass, options);
  const problems = judge(facts, attackClass);
  if (problems.length === 0 || !problems.every(({ isLatency }) => isLatency)) {
    return { attackClass, facts, problems, isSecond: false };
  }
  const again = await runClass(attackClass, options);
  return { attackClass, facts: again, problems: judge(again, attackClass), isSecond: true };
}
