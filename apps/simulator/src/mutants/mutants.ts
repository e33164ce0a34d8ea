import { ENGINE_MUTANTS } from "./engine.ts";
import { LIFECYCLE_MUTANTS } from "./lifecycle.ts";
import type { Mutant } from "./mutant.ts";
import { STORE_MUTANTS } from "./store.ts";

/** Every planted bug. */
export const MUTANTS: readonly Mutant[] = [
  ...LIFECYCLE_MUTANTS,
  ...ENGINE_MUTANTS,
  ...STORE_MUTANTS,
  {
    name: "effect-key-with-attempt",
    why: "a side effect happens again with each attempt, because its key is another one",
    patches: [
      {
        file: "apps/simulator/src/agent/recipient.ts",
        find: "const key = attempt.handoff.handoff_id;",
        replace: "const key = `${attempt.handoff.handoff_id}/${attempt.offer.attempt}`;",
      },
    ],
  },
];

export function mutantNamed(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name);
  if (found === undefined) throw new Error(`There is no planted bug ${name}.`);
  return found;
}
