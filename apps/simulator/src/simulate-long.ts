/// <reference types="node" />
// `node src/simulate-long.ts`: every planted bug, crashes at each call to a disk, then 1,200 worlds.
import { availableParallelism } from "node:os";
import { MUTANTS } from "./mutants/mutants.ts";
import { describeRun } from "./report.ts";
import { runSeeds } from "./run/run-seeds.ts";
import type { RunOptions } from "./run/run-seeds.ts";

const SEEDS = 1_200;
const BLOCK = 100;
const CALM_SEEDS = 4;
/** Over the log of `@waybill/store-sqlite`, besides the others. */
const LOG_SEEDS = 200;
/** Most show in the first ten seeds. One that takes longer than this counts as missed. */
const SEEDS_FOR_MUTANT = 100;
/** At random these take long to show: they need a crash at one call, and calm after it. */
const SHOWN_BY_EACH_CALL: ReadonlySet<string> = new Set([
  "acknowledged-before-sync",
  "not-synced-at-start",
  "timers-not-armed-at-start",
]);
const SEEDS_FOR_EACH_CALL = 12;
/** The runner allows fifteen minutes, and should learn what was not done. */
const STOPS_AFTER_MS = 14 * 60_000;

const say = (line: string) => process.stdout.write(`${line}\n`);
const startedAt = performance.now();
const stop = AbortSignal.timeout(STOPS_AFTER_MS);
let passed = 0;
let failed = 0;
const sum = { seeds: 0, handoffs: 0, violations: 0 };

function count(name: string, isGood: boolean): void {
  if (isGood) passed++;
  else failed++;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
  say(`${seconds} s  ${isGood ? "passed" : "FAILED"}  ${name}`);
}

async function findNothing(
  name: string,
  options: Pick<RunOptions, "from" | "seeds" | "crashesAtEachCall" | "storage">,
): Promise<void> {
  const { seeds, handoffs, violations } = await runSeeds({
    ...options,
    stopsAtViolation: false,
    stop,
    onRun(run) {
      if (run.violations.length > 0) for (const line of describeRun(run, options)) say(line);
    },
  });
  sum.seeds += seeds;
  sum.handoffs += handoffs;
  sum.violations += violations;
  const isWhole = seeds === options.seeds;
  const what = `${seeds} of ${options.seeds} seeds, ${handoffs} handoffs, ${violations} violations`;
  count(`${name}: ${what}`, violations === 0 && isWhole);
}

/** One thread for each bug: most show at once, and a second thread's work would be wasted. */
async function findBugs(): Promise<void> {
  const names = MUTANTS.map(({ name }) => name);
  const threads = Array.from({ length: availableParallelism() }, async () => {
    for (let mutant = names.shift(); mutant !== undefined; mutant = names.shift()) {
      const hunt = { from: 1, ...budgetOf(mutant), mutant, workers: 1 };
      const totals = await runSeeds({ ...hunt, stopsAtViolation: true, stop });
      const isCaught = totals.violations > 0;
      const where = isCaught ? `caught by seed ${totals.first_violating_seed}` : "not caught";
      count(`planted bug ${mutant}: ${where}`, isCaught);
      const eachCall = hunt.crashesAtEachCall === true ? " --each-call" : "";
      if (!isCaught) say(`  again with: pnpm simulate --mutant ${mutant}${eachCall}`);
    }
  });
  await Promise.all(threads);
}

function budgetOf(mutant: string): Pick<RunOptions, "seeds" | "crashesAtEachCall"> {
  const crashesAtEachCall = SHOWN_BY_EACH_CALL.has(mutant);
  return { seeds: crashesAtEachCall ? SEEDS_FOR_EACH_CALL : SEEDS_FOR_MUTANT, crashesAtEachCall };
}

await findBugs();
await findNothing("a crash at each call", { from: 1, seeds: CALM_SEEDS, crashesAtEachCall: true });
await findNothing("seeds over the log", { from: 1, seeds: LOG_SEEDS, storage: "log" });
for (let from = 1; from <= SEEDS; from += BLOCK) {
  await findNothing(`seeds from ${from}`, { from, seeds: BLOCK });
}
say(`${sum.seeds} seeds, ${sum.handoffs} handoffs, ${sum.violations} violations in sound worlds`);
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
