import { AGENT_MUTANTS } from "./agent.ts";
import { ENGINE_MUTANTS } from "./engine.ts";
import { LIFECYCLE_MUTANTS } from "./lifecycle.ts";
import { LOG_MUTANTS } from "./log.ts";
import type { Mutant } from "./mutant.ts";
import { SPREAD_MUTANTS } from "./spread.ts";
import { STORE_MUTANTS } from "./store.ts";

/** Every planted bug. */
export const MUTANTS: readonly Mutant[] = [
  ...LIFECYCLE_MUTANTS,
  ...ENGINE_MUTANTS,
  ...STORE_MUTANTS,
  ...LOG_MUTANTS,
  ...AGENT_MUTANTS,
  ...SPREAD_MUTANTS,
];

export function mutantNamed(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name);
  if (found === undefined) throw new Error(`There is no planted bug ${name}.`);
  return found;
}
