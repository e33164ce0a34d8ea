/// <reference types="node" />
import { availableParallelism } from "node:os";
import { readArguments, USAGE } from "./arguments.ts";
import type { Arguments } from "./arguments.ts";
import { GROUPS } from "./groups.ts";
import { measure } from "./measure.ts";
import { ratioOf } from "./ratio.ts";
import { toJson, toTable } from "./report.ts";

const MEASURING = { rounds: 80, sliceMs: 10, warmUpMs: 400 } as const;

process.exitCode = await main();

async function main(): Promise<number> {
  let given: Arguments;
  try {
    given = readArguments(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\nUsage: ${USAGE}`);
    return 2;
  }
  if (given.group === undefined) {
    console.log(`${USAGE}\n\n${listOfGroups()}`);
    return 0;
  }
  if (!Object.hasOwn(GROUPS, given.group)) {
    console.error(`There is no group "${given.group}". There are:\n${listOfGroups()}`);
    return 2;
  }
  try {
    return await benchmark(given.group, given);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
}

function listOfGroups(): string {
  return Object.entries(GROUPS)
    .map(([name, { about }]) => `  ${name.padEnd(12)}  ${about}`)
    .join("\n");
}

async function benchmark(name: string, given: Arguments): Promise<number> {
  const group = await GROUPS[name]!.load();
  const rounds = given.rounds ?? MEASURING.rounds;
  const cases = await measure(group.cases, {
    ...MEASURING,
    rounds,
    now: () => performance.now(),
    processorTime,
    onRound: showProgress,
  });
  const ratios = group.ratios.map((ratio) => ratioOf(ratio, cases));
  const report = {
    group: name,
    node: process.versions.node,
    cpus: availableParallelism(),
    rounds,
    cases,
    ratios,
  };
  console.log(given.isJson ? JSON.stringify(toJson(report)) : toTable(report));
  return given.isStrict && ratios.some(({ isMet }) => isMet === false) ? 1 : 0;
}

// Of the whole process: Linux updates the time of a single thread only every few milliseconds, which
// is too coarse for a slice.
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function showProgress(done: number, rounds: number): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(done < rounds ? `\rround ${done} of ${rounds}` : "\r\u001b[K");
}
