import { spreadScenario } from "../spread/spread-world.ts";
import type { Mutant } from "./mutant.ts";

const CHOICE = "packages/protocol/src/discovery/choice.ts";
const RELIABILITY = "packages/protocol/src/discovery/reliability.ts";

export const SPREAD_MUTANTS: readonly Mutant[] = [
  {
    name: "load-not-weighed",
    why: "of several equal agents, one gets everything",
    worlds: spreadScenario("equal"),
    patches: [
      {
        file: CHOICE,
        find: "return loadOf(second) < loadOf(first) ? second : first;",
        replace: "void [loadOf, second, first];\n  return best;",
      },
    ],
  },
  {
    name: "speed-not-weighed",
    why: "a worker that is ten times slower gets as much work as the other",
    worlds: spreadScenario("slow"),
    patches: [
      {
        file: CHOICE,
        find: "const weights = weightsOf(equals);",
        replace: "void weightsOf;\n  const weights = equals.map(() => 1);",
      },
    ],
  },
  {
    name: "crash-counted-for-each-attempt",
    why: "a worker that was killed while it was full gets no work for an hour",
    worlds: spreadScenario("restarted"),
    patches: [
      {
        file: RELIABILITY,
        find: "if (isCrash && stats.crashUntil !== null && at < stats.crashUntil) return stats;",
        replace: "",
      },
      { file: RELIABILITY, find: "baseMs: 30_000,", replace: "baseMs: 3_600_000," },
      { file: RELIABILITY, find: "capMs: 60_000,", replace: "capMs: 3_600_000," },
    ],
  },
];
