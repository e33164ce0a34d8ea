import type { AttackClass } from "../attack-class.ts";
import { NOTHING } from "./facts.ts";
import type { Facts } from "./facts.ts";
import { judge } from "./judge.ts";
import type { Problem } from "./judge.ts";
import { runClass } from "./run-class.ts";
import type { RunOptions } from "./run-class.ts";

export interface Row {
  readonly attackClass: AttackClass;
  readonly facts: Facts;
  readonly problems: readonly Problem[];
  /** The second run, after a first one that was late or did not reach its target. */
  readonly isSecond: boolean;
}

/** On a busy machine an attack takes longer to reach its target. */
const SECOND_TRY_TIMES = 3;

export interface TryOptions extends RunOptions {
  /** Whether the machine may have caused the problem. */
  readonly hasSecondTry: (problem: Problem) => boolean;
}

/**
 * Runs a class, and runs it again for longer if the machine may have caused all of its problems. Then
 * the second result counts. A class that can't be run here has failed, and the others continue.
 */
export async function tryClass(
  attackClass: AttackClass,
  { hasSecondTry, ...options }: TryOptions,
  run: typeof runClass = runClass,
): Promise<Row> {
  try {
    const facts = await run(attackClass, options);
    const problems = judge(facts, attackClass);
    if (problems.length === 0 || !problems.every(hasSecondTry)) {
      return { attackClass, facts, problems, isSecond: false };
    }
    const seconds = options.seconds * SECOND_TRY_TIMES;
    const again = await run(attackClass, { ...options, seconds });
    return { attackClass, facts: again, problems: judge(again, attackClass), isSecond: true };
  } catch (error) {
    const says = `it could not be run here: ${(error as Error).message}`;
    return { attackClass, facts: NOTHING, problems: [{ of: "safety", says }], isSecond: false };
  }
}
