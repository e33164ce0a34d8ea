/// <reference types="node" />
// `node src/simulate.ts`: runs seeded worlds until one of them breaks a promise. See README.md.
import { readArguments, USAGE, UsageError } from "./arguments.ts";
import { MUTANTS } from "./mutants/mutants.ts";
import { describeRun, Progress } from "./report.ts";
import { runSeeds } from "./run/run-seeds.ts";
import type { Totals } from "./run/run-seeds.ts";
import type { Arguments } from "./arguments.ts";

const print = (line: string) => process.stdout.write(`${line}\n`);
const printError = (text: string) => process.stderr.write(text);
/** Progress for people goes to stderr if a program reads stdout. */
const sayTo =
  ({ isJson }: Arguments) =>
  (line: string): unknown =>
    isJson ? printError(`${line}\n`) : print(line);

async function main(): Promise<number> {
  const args = readArguments(process.argv.slice(2));
  const names = MUTANTS.map(({ name }) => name);
  if (args.lists) {
    for (const line of args.isJson ? [JSON.stringify(names)] : names) print(line);
    return 0;
  }
  if (args.mutant === "all") return findMutants(names, args);
  if (args.mutant !== undefined && !names.includes(args.mutant)) {
    throw new UsageError(
      `There is no planted bug ${args.mutant}. There are: ${names.join(", ")}, and all.`,
    );
  }
  const totals = await run(args, args.mutant);
  const isMutant = args.mutant !== undefined;
  const isAsExpected = isMutant ? totals.violations > 0 : totals.violations === 0;
  if (isMutant && !isAsExpected) sayTo(args)(`The planted bug ${args.mutant} was not caught.`);
  print(JSON.stringify(totals));
  return isAsExpected ? 0 : 1;
}

async function run(args: Arguments, mutant: string | undefined): Promise<Totals> {
  const say = sayTo(args);
  const stop = new AbortController();
  const end = () => stop.abort();
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  const progress = new Progress(args.seeds, printError);
  const totals = await runSeeds({
    ...args,
    mutant,
    stopsAtViolation: mutant !== undefined,
    stop: stop.signal,
    onRun(each) {
      for (const line of each.lines ?? []) say(line);
      if (each.violations.length > 0)
        for (const line of describeRun(each, { ...args, mutant })) say(line);
      progress.note(each);
    },
  });
  process.off("SIGINT", end);
  process.off("SIGTERM", end);
  progress.end();
  const { seeds, handoffs, violations, first_violating_seed: first } = totals;
  const tail = first === null ? "" : `, the first at seed ${first}`;
  say(`${seeds} seeds, ${handoffs} handoffs, ${violations} violations${tail}`);
  return totals;
}

/** Runs every planted bug until it is caught. */
async function findMutants(names: readonly string[], args: Arguments): Promise<number> {
  const say = sayTo(args);
  const rows: { mutant: string; seeds: number; caught: boolean; seed: number | null }[] = [];
  const sum = { seeds: 0, handoffs: 0, violations: 0 };
  for (const mutant of names) {
    const totals = await runSeeds({ ...args, mutant, stopsAtViolation: true });
    const caught = totals.violations > 0;
    rows.push({ mutant, seeds: totals.seeds, caught, seed: totals.first_violating_seed });
    sum.seeds += totals.seeds;
    sum.handoffs += totals.handoffs;
    sum.violations += totals.violations;
    const where = caught ? `caught by seed ${totals.first_violating_seed}` : "NOT CAUGHT";
    say(`${mutant.padEnd(36)} ${where} of ${totals.seeds}`);
  }
  const missed = rows.filter(({ caught }) => !caught).length;
  say(`${rows.length - missed} of ${rows.length} planted bugs were caught`);
  print(JSON.stringify({ ...sum, first_violating_seed: null, mutants: rows }));
  return missed === 0 ? 0 : 1;
}

// A reader that closes early, like `head`, has what it wants.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof UsageError) {
    printError(`${error.message}\n\n${USAGE}\n`);
    process.exitCode = 2;
  } else {
    printError(`${String((error as Error).stack)}\n`);
    process.exitCode = 1;
  }
}
